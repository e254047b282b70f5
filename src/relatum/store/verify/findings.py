"""What does not hold, gathered while a verification goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from relatum.store.verify.report import FINDINGS_MAX, Finding

Listener = Callable[[Finding], None]


class Findings:
    """Counts all findings, keeps the first `FINDINGS_MAX`, and tells each to `listener` as it is made."""

    def __init__(self, listener: Listener | None = None) -> None:
        self.named: list[Finding] = []
        self.by_family: Counter[str] = Counter()
        self._listener = listener

    @property
    def count(self) -> int:
        """How many there are."""
        return self.by_family.total()

    def take_in(self, named: Sequence[Finding], by_family: Mapping[str, int]) -> None:
        """Adds what others have found."""
        self.by_family.update(by_family)
        self.named += named[: FINDINGS_MAX - len(self.named)]

    def add(self, family: str, message: str, workspace_id: str | None = None) -> None:
        """Notes one."""
        self.by_family[family] += 1
        if self._listener is None and len(self.named) == FINDINGS_MAX:
            return
        finding = Finding(family=family, workspace_id=workspace_id, message=message)
        if len(self.named) < FINDINGS_MAX:
            self.named.append(finding)
        if self._listener is not None:
            self._listener(finding)
