"""One client at work on a ledger that may fail under it, and what it must be told.

What always holds: a success is told only of what is durable; once a commit has failed none is told any more; whatever
else goes wrong is a failure of the ledger's own kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL
from enum import Enum, auto
from random import Random
from typing import Final, assert_never

from crash_tests.embedded import Reporter
from crash_tests.embedded.command_source import Sights, Thinker, bootstrap
from crash_tests.embedded.execution import administrator, carry_out, carry_out_all
from crash_tests.embedded.messages import Judgment, Memory, Message, Sent, Told
from crash_tests.violation import require, require_same
from relatum.errors import StorageFailure, WritesRefused
from relatum.ledger import Ledger


class Idea(Enum):
    """What a client may do next."""

    MEMORY = auto()
    BATCH = auto()
    ACTIVATION = auto()
    SAVING = auto()
    CREDENTIAL = auto()
    JUDGMENT = auto()


BRIEF: Final = (Idea.BATCH,)
SHORT: Final = (Idea.BATCH, Idea.JUDGMENT, Idea.SAVING, Idea.CREDENTIAL)
LONG: Final = (*SHORT, Idea.ACTIVATION, Idea.BATCH, Idea.JUDGMENT, Idea.MEMORY, Idea.SAVING, Idea.JUDGMENT)


class WatchfulReporter(Reporter):
    """Tells no success while a log or a watermark has bytes that are not durable.

    For one thread, beside which nothing else is committed.
    """

    def __init__(self, descriptor: int, injector: CDLL) -> None:
        super().__init__(descriptor)
        self.descriptor = descriptor
        self._injector = injector

    def tell(self, *messages: Message) -> None:
        """See `Reporter.tell`. Raises `Violation`."""
        for message in messages:
            if isinstance(message, Told) and message.receipt is not None:
                undurable = self._injector.injector_undurable()
                require(undurable == 0, f"{message.id} was acknowledged, and {undurable} files have bytes to lose")
        super().tell(*messages)


class Session:
    """The commands of one client, and then again those that were acknowledged."""

    def __init__(self, ledger: Ledger, reporter: Reporter, seed: str) -> None:
        self._ledger = ledger
        self._reporter = reporter
        self._seed = seed
        self._acknowledged: list[tuple[Sent, Told]] = []
        self._failed = False

    def work(self, ideas: Sequence[Idea]) -> None:
        """Raises `Failure` where the ledger can't even be read, and `Violation`."""
        if administrator(self._ledger) is None:
            self._attempt([bootstrap(self._seed)])
        with self._ledger.view() as view:
            sights = Sights(view)
        thinker = Thinker(self._seed, Random(self._seed), sights)
        for idea in ideas:
            for sent, told in self._attempt(self._commands(thinker, idea)):
                if told.receipt is not None:
                    sights.learn(self._ledger, sent, told.receipt)
        self.ask_again(self._ledger)

    def ask_again(self, ledger: Ledger) -> None:
        """What was acknowledged is answered with the same bytes, by this ledger or a later one on the same store."""
        for sent, told in self._acknowledged:
            require_same(f"the answer to {sent.id}, sent again", told, carry_out(ledger, sent))

    def _commands(self, thinker: Thinker, idea: Idea) -> list[Sent]:
        match idea:
            case Idea.MEMORY:
                return thinker.memory()
            case Idea.BATCH:
                return thinker.batch()
            case Idea.ACTIVATION:
                return [thinker.activation()]
            case Idea.SAVING:
                with self._ledger.view() as view:
                    return [thinker.saving(view)]
            case Idea.JUDGMENT:
                with self._ledger.view() as view:
                    return [thinker.judgment(view)]
            case Idea.CREDENTIAL:
                if administrator(self._ledger) is None:
                    return []  # making one has failed
                with self._ledger.view() as view:
                    return [thinker.credential_change(view)]
            case _:
                assert_never(idea)

    def _attempt(self, commands: list[Sent]) -> list[tuple[Sent, Told]]:
        """The commands that were answered, with their answers: all of them, or none after a failure."""
        if not commands:
            return []
        self._reporter.tell(*commands)
        try:
            told = carry_out_all(self._ledger, commands) if len(commands) > 1 else [carry_out(self._ledger, *commands)]
        except (WritesRefused, StorageFailure):
            self._failed = True
            require(self._ledger.readiness() == "poisoned", "a commit failed, and the ledger takes itself for ready")
            return []
        if self._failed:  # then only what makes no sense whatever is stored is answered, since no writer is asked
            senseless = all(one.refusal == "invalid_request" for one in told)
            require(senseless, f"{commands[0].id} was answered after a commit had failed")
            return []
        self._reporter.tell(*told)
        answered = list(zip(commands, told, strict=True))
        lasting = (one for one in answered if isinstance(one[0].ask, Memory | Judgment))
        self._acknowledged += [one for one in lasting if one[1].receipt is not None]
        return answered
