"""`python -m tests.judgments.racing`: eight clients that supersede each other's records at random, again and again.

Each run makes a few records in a scope of its own, and candidates between some of them. Then eight clients start at one
moment, and each gives a few verdicts drawn by a seed: comparisons, verdicts on the same candidates, and now and then
one of the relations is retired and restored. Whatever came first, afterwards no record may have two superseders, no
record may come before itself, every superseded record must have its cause, and no candidate may have two verdicts.
Prints what came of it.
"""

from __future__ import annotations

import random  # noqa: TID251 - a seed gives the same verdicts again
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from threading import Barrier

from tests.http.client import Api, Caller, Json, issue
from tests.http.serving import Server, initialise
from tests.judgments.over_http.calling import annotated, batch, compare, submit
from tests.support.polling import WAIT_SECONDS

CLIENTS = 8


class Race:
    """One run: records, candidates, and the verdicts of eight clients."""

    def __init__(self, caller: Caller, name: str) -> None:
        self.counted: Counter[str] = Counter()
        self._caller = caller
        self._name = name
        dice = random.Random(name)
        self._records = [caller.create(f"record {number}") for number in range(dice.randint(2, 5))]
        pairs = dice.sample([*combinations(self._records, 2)], dice.randint(1, len(self._records) - 1))
        self._candidates = [one["candidate_id"] for one in submit(caller, *pairs)]
        self._won: list[str] = []

    def run(self, pool: ThreadPoolExecutor) -> None:
        """All clients at once; raises AssertionError where something does not hold afterwards."""
        barrier = Barrier(CLIENTS)

        def work(number: int) -> list[str]:
            dice = random.Random(f"{self._name}/{number}")
            barrier.wait(WAIT_SECONDS)
            return [won for _ in range(dice.randint(1, 3)) if (won := self._act(dice))]

        for won in pool.map(work, range(CLIENTS)):
            self._won += won
        self._check()

    def _act(self, dice: random.Random) -> str | None:
        """One verdict; the candidate that it has closed as an item of a batch."""
        if dice.random() < 0.3:
            candidate_id: str = dice.choice(self._candidates)
            [result] = batch(self._caller, {"candidate_id": candidate_id, "relation": "supersedes"})["results"]
            assert result["ok"] or result["code"] == "revision_conflict", result
            self.counted[f"verdicts on candidates {'accepted' if result['ok'] else 'refused'}"] += 1
            return candidate_id if result["ok"] else None
        source, target = dice.sample(self._records, 2)
        answer = compare(self._caller, source, target, dice.choice(["supersedes"] * 5 + ["scoped"]))
        assert answer.status_code in (200, 409), answer.text
        self.counted[f"comparisons {'accepted' if answer.status_code == 200 else 'refused'}"] += 1
        if answer.status_code == 200 and dice.random() < 0.2:
            self._take_back_and_give_again(answer.json()["receipt"])
        return None

    def _take_back_and_give_again(self, receipt: Json) -> None:
        retired = self._caller.change("retire", receipt)
        if retired.status_code == 200:
            restored = self._caller.change("restore", retired.json()["receipt"])
            assert restored.status_code in (200, 409), restored.text
            self.counted[f"relations retired and {'restored' if restored.status_code == 200 else 'not restored'}"] += 1
        else:
            assert retired.status_code == 409, retired.text

    def _check(self) -> None:
        assert len(self._won) == len({*self._won}), "a candidate with two verdicts"
        found = {one["record"]["record_id"]: one for one in annotated(self._caller, *self._records, relations_limit=50)}
        by: dict[str, str | None] = {}
        for record_id, one in found.items():
            causes = [said["target_id"] for said in one["relations"] if said["kind"] == "superseded_by"]
            assert len(causes) < 2, "a record with two superseders"
            by[record_id] = one["standing"]["superseded_by"]
            assert causes == ([by[record_id]] if by[record_id] else []), "a standing without its cause, or the reverse"
        for record_id, one in found.items():
            replaced = sorted(other for other, superseder in by.items() if superseder == record_id)
            assert replaced == one["standing"]["replaces"]
            _check_no_cycle(by, record_id)
        self.counted["records superseded"] += sum(one is not None for one in by.values())
        self.counted["runs"] += 1


def _check_no_cycle(by: dict[str, str | None], start: str) -> None:
    seen, at = {start}, by[start]
    while at is not None:
        assert at not in seen, "a cycle of supersessions"
        seen.add(at)
        at = by[at]


def run(caller: Caller, runs: int, seed: int) -> Counter[str]:
    """So many runs under one administrator; what was counted."""
    total: Counter[str] = Counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        for number in range(runs):
            race = Race(issue(caller), f"{seed}/{number}")
            race.run(pool)
            total += race.counted
    return total


@contextmanager
def served() -> Iterator[Caller]:
    """The administrator of a server of its own."""
    with tempfile.TemporaryDirectory(prefix="relatum-racing-") as directory:
        store = Path(directory) / "store"
        secret = initialise(store)
        with Server(store) as server, Api(server.url) as api:
            yield Caller(api, secret)


def main(arguments: Namespace) -> int:
    with served() as caller:
        total = run(caller, arguments.runs, arguments.seed)
    print("\n".join(f"{number:6} {what}" for what, number in sorted(total.items())))  # noqa: T201
    return 0


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="python -m tests.judgments.racing", description=__doc__)
    made.add_argument("--runs", type=int, default=1_000)
    made.add_argument("--seed", type=int, default=0, help="other verdicts for another number")
    return made


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
