"""What must hold of a store once the fault is over: asked in a process of its own, with nothing failing any more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from crash_tests.company import ADMINISTRATOR, COMPANY
from crash_tests.embedded import Acknowledged, Plan, check
from crash_tests.embedded.messages import Broken, Message, Told, Unable, messages_in
from crash_tests.forks import Ended
from crash_tests.system_calls.workloads import STORE_NAME
from crash_tests.violation import Violation, require, require_same
from relatum.cli.bootstrap import make_administrator, replace_administrator
from relatum.errors import Failure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from relatum.store.verify.directory import verify_directory

REFUSED, FAILED, UNHARMED = "refused", "failed", "unharmed"
"""What came of a fault: the store says that it has lost something; the program said that it can't; nobody noticed."""


def judge_store(root: Path, before: bytes, told: bytes, rehearsed: bytes, descriptor: int, *, may_lose: bool) -> int:
    """The exit status; the descriptor is told what came of it, in a word, or what does not hold.

    `told` is what was said while the fault struck, `before` what all earlier lives of the store said, and `rehearsed`
    what is said if nothing fails. Where it `may_lose` something, the store may refuse to be opened instead.
    """

    def judge() -> str:
        messages = list(messages_in(told))
        _require_as_rehearsed(messages, list(messages_in(rehearsed)))
        acknowledged = Acknowledged.read(before)
        acknowledged.add(message for message in messages if not isinstance(message, Unable))
        check(root / STORE_NAME, acknowledged, Plan(seed="aftermath", commands=0))
        return FAILED if any(isinstance(message, Unable) for message in messages) else UNHARMED

    return _outcome(judge, descriptor, may_lose)


def _require_as_rehearsed(messages: Sequence[Message], rehearsed: Sequence[Message]) -> None:
    """Nothing broke, and up to the failure everything was answered as if there were none."""
    for message in messages:
        if isinstance(message, Broken):
            raise Violation(message.text)
    answers, expected = ([one for one in told if isinstance(one, Told)] for told in (messages, rehearsed))
    for answer, right in zip(answers, expected, strict=False):  # a failure ends them early
        require_same(f"the answer to {right.id}", right, answer)


def judge_init(root: Path, init: Ended, errors: str, descriptor: int, *, may_lose: bool) -> int:
    """The same of a store that `relatum init` was to make: its secret works, or it can be made to.

    `errors` is what the program wrote to standard error.
    """

    def judge() -> str:
        directory = root / STORE_NAME
        if init.status == 0:
            _require_authentic(directory, msgspec.json.decode(init.told)["secret"])
        else:
            killed = init.status < 0
            told = errors.strip().rpartition("\n")[2]
            require(killed or ("Traceback" not in errors and told.startswith("Error: ")), f"it only said {errors!r}")
            _require_authentic(directory, _administrator(directory))
        require(verify_directory(directory).clean, "verification finds something in a new store")
        return UNHARMED if init.status == 0 else FAILED

    return _outcome(judge, descriptor, may_lose)


def _outcome(judge: Callable[[], str], descriptor: int, may_lose: bool) -> int:
    status = 0
    try:
        text = judge()
    except (Violation, Failure) as broken:
        refused = any(isinstance(error, StoreUnavailable) for error in (broken, broken.__cause__))
        text, status = (REFUSED, 0) if may_lose and refused else (str(broken), 1)
    os.write(descriptor, text.encode())
    return status


def _administrator(directory: Path) -> str:
    """The secret of an administrator, made now; another one, if `init` had come so far."""
    try:
        issued = make_administrator(directory, COMPANY, ADMINISTRATOR)
    except click.ClickException:
        issued = replace_administrator(directory, COMPANY, ADMINISTRATOR)
    return issued.secret


def _require_authentic(directory: Path, secret: Any) -> None:
    with Ledger.open(directory) as ledger, ledger.view() as view:
        found = credentials.authenticate(view, secret)
    require(found is not None and found.spec.subject_id == ADMINISTRATOR, "the secret that was told does not work")
