"""What a helper of a verification answers where it can't do a task."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Never

import pytest

from relatum.store.verify import worker
from relatum.store.verify.messages import Failed, read_answer, write_task
from relatum.store.verify.tasks import WholePartitions


def answer_of(directory: Path) -> Failed:
    """What a helper says that fails at its first task."""
    tasks, answers = BytesIO(), BytesIO()
    write_task(tasks, WholePartitions(()))
    tasks.seek(0)
    worker.work(directory, tasks, answers)
    answers.seek(0)
    answer = read_answer(answers)
    assert isinstance(answer, Failed)
    assert read_answer(answers) is None
    return answer


def test_a_store_that_can_not_be_opened_is_an_answer(tmp_path: Path) -> None:
    answer = answer_of(tmp_path / "nowhere")
    assert "there is no store in" in answer.message
    assert not answer.fault


def test_a_fault_of_the_program_is_an_answer_without_what_is_stored(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object) -> Never:
        raise KeyError("what a client wrote")

    monkeypatch.setattr(worker, "done", faulty)
    answer = answer_of(store / "engine")
    assert answer.message.startswith("KeyError at tests/verify/test_worker.py:")
    assert "what a client wrote" not in answer.message
    assert answer.fault
