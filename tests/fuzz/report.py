"""What came of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.fuzz.judging import Fault


@dataclass
class Report:
    """Answers by operation and status, and what was wrong with them."""

    seed: int
    answers: dict[str, Counter[int]] = field(default_factory=dict)
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    """By operation and title, with the words and the request of the first case that showed the fault."""

    def count(self, operation: str, status: int) -> None:
        self.answers[operation][status] += 1

    def blame(self, operation: str, faults: Iterable[Fault], request: str) -> None:
        for fault in faults:
            self.faults.setdefault((operation, fault.title), f"{fault.words}\n{request}")

    @property
    def statuses(self) -> Counter[int]:
        """All answers by status."""
        return sum(self.answers.values(), Counter())

    @property
    def never_accepted(self) -> list[str]:
        """Operations behind whose checks the fuzzer has never come."""
        return [operation for operation, statuses in self.answers.items() if min(statuses, default=400) >= 400]

    def __str__(self) -> str:
        lines = [f"{operation}: {_counts(statuses)}" for operation, statuses in self.answers.items()]
        lines.append(f"seed {self.seed}, {self.statuses.total()} cases: {_counts(self.statuses)}")
        lines += [f"WRONG {operation}: {title}\n{words}" for (operation, title), words in self.faults.items()]
        return "\n".join(lines)


def _counts(statuses: Counter[int]) -> str:
    return ", ".join(f"{number} x {status}" for status, number in sorted(statuses.items()))
