"""A miner at work: runs of mined edges, which lie beside the ledger, and what is left of them after a kill.

They have no keys and no receipts: the last run that was finished is there, or one that was in doubt since. Both ends of
each edge are records that nobody has, so that one question, what dangles, is answered with all of them.

What always holds: what may be there is entered before the request is sent that may put it there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import count
from random import Random
from uuid import UUID

from crash_tests.command_requests import require_unavailable
from crash_tests.curation import DAYS
from crash_tests.history import Account, Desk, Json
from crash_tests.server import Server
from crash_tests.violation import Violation, require
from crash_tests.wire import Connection
from crash_tests.worker import until_gone
from relatum.core.ids import Scope

DERIVED = "/api/v1/memory/edges/derived"
DANGLING = "/api/v1/memory/edges/dangling"
SCOPE = Scope(project_id="quarry", agent_id="miner", visibility="shared")
KINDS = ("supports", "contradicts", "caused_by")
WEIGHTS = (0.0, 0.25, 1.0)
EDGES_MAX = 40
PAGES_MAX = 3
DROPPED = 0.1
LIMIT = 1_000
"""More than there ever are."""

Edges = frozenset[tuple[str, str, str, float]]
"""Source, kind, target and weight of each."""


class Mined:
    """What may be there now: the last of it was acknowledged or is in doubt, what lies before it may still stand."""

    def __init__(self, account: Account) -> None:
        self.desk = Desk(account, SCOPE)
        self.possible: list[Edges] = [frozenset()]
        self._runs = count(1)

    def fresh_run(self) -> str:
        """The name of a run that nobody has begun."""
        return f"run {next(self._runs)}"

    def acknowledged(self) -> None:
        """What was asked for last is there, and nothing else."""
        del self.possible[:-1]

    def look(self, connection: Connection) -> int:
        """What is there must be possible, and settles what was in doubt; how many edges that are."""
        answer = connection.post(DANGLING, self.desk.body(limit=LIMIT))
        require(answer.status == 200, f"mined edges were answered with {answer.status} {answer.body[:600]!r}")
        told = answer.json()
        edges = [(one["source_id"], one["kind"], one["target_id"], one["weight"]) for one in told["edges"]]
        found = frozenset(edges)
        require(told["complete"] and len(found) == len(edges), "mined edges are told twice, or not all of them")
        if found not in self.possible:
            counts = [len(one) for one in self.possible]
            raise Violation(f"{len(found)} mined edges are there, and not those that may be: of {counts} any")
        self.possible = [found]
        return len(found)


class Miner:
    """One thread's work. `pace` waits for others to have done something; whether the work goes on."""

    def __init__(self, mined: Mined, server: Server, random: Random, pace: Callable[[], bool]) -> None:
        self._mined = mined
        self._server = server
        self._random = random
        self._pace = pace
        self._connection = Connection(server.port, mined.desk.account.secret)
        self._unsettled = partial(require_unavailable, server)

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        with until_gone(self._server, [self._connection]):
            while not is_over() and self._pace():
                if self._random.random() < DROPPED:
                    self._ask("drop", frozenset())
                else:
                    self._mine()

    def _mine(self) -> None:
        """A run, page by page, all of which takes the place of what was there with the last one."""
        pages = [self._page() for _ in range(self._random.randint(1, PAGES_MAX))]
        run = {"run_id": self._mined.fresh_run(), "run_date": self._random.choice(DAYS)}
        whole = frozenset(_key(edge) for page in pages for edge in page)
        for page in pages[:-1]:
            if not self._ask("replace", None, run=run, edges=page):
                return
        self._ask("replace", whole, run=run, edges=pages[-1], finish=True)

    def _page(self) -> list[Json]:
        return [self._edge() for _ in range(self._random.randint(1, EDGES_MAX))]

    def _edge(self) -> Json:
        ends = {name: str(UUID(int=self._random.getrandbits(128), version=4)) for name in ("source_id", "target_id")}
        return {**ends, "kind": self._random.choice(KINDS), "weight": self._random.choice(WEIGHTS)}

    def _ask(self, verb: str, leaves: Edges | None, **members: object) -> bool:
        """Whether it was answered; `leaves` are the edges that are there afterwards, if it changes what is there."""
        mined = self._mined
        if leaves is not None:
            mined.possible.append(leaves)
        answer = self._connection.post(f"{DERIVED}/{verb}", mined.desk.body(**members))
        if answer.status != 200:
            self._unsettled(f"the {verb} of mined edges", answer.status, answer.code)
            return False
        if leaves is not None:
            mined.acknowledged()
            mined.look(self._connection)
        return True


def look(mined: Mined, port: int) -> int:
    """A restarted server has the edges that may be there; how many."""
    with closing(Connection(port, mined.desk.account.secret)) as connection:
        return mined.look(connection)


def _key(edge: Json) -> tuple[str, str, str, float]:
    return edge["source_id"], edge["kind"], edge["target_id"], edge["weight"]
