"""`python -m tests.judgments.killing`: kills a server while it saves, judges, compares and sweeps, again and again.

Each round starts the server, most of the time with its clock put forward past the deadline of the sweep, lets four
clients work, and kills it once it has given so many answers, which a seed draws. Then on a copy of the store every row
must follow from the events and make sense (`crash_tests/inspection/soundness.py`); and a server that is started again
must give each command that was answered the same answer, and each one that was not some answer, which then stays.
Prints what came of it.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from threading import Condition, Lock
from typing import Any

import httpx

from crash_tests.curation_workload.requests import SCOPE, Ideas, Known, Request, lasting
from crash_tests.inspection.soundness import Counts, check_store
from relatum.limits import DAY_MILLIS
from tests.http.client import CREDENTIALS
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS

WORKERS = 4
ANSWERS_MAX = 60
"""A round ends after one to so many answers."""

ROUNDS_A_STORE = 20
"""A new store after so many rounds: the checks look at every row there is."""


class Campaign:
    """One store and its clients, through round after round."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.known = Known()
        self.counted: Counter[str] = Counter()
        self._directory = directory
        self._seed = seed
        self._store = directory / "store"
        self._admin = initialise(self._store)
        self._secret = ""
        self._late_millis = 0
        self._answered: dict[str, Any] = {}
        self._asked: dict[str, Request] = {}
        self._unknown: dict[str, Request] = {}

    def round(self, number: int, answers: int) -> Counts:
        """One server until it is killed after so many answers; what the checks have found."""
        if number % 3:
            self._late_millis += 15 * DAY_MILLIS
        with Server(self._store, clock_offset_millis=self._late_millis) as server:
            with httpx.Client(base_url=server.url, timeout=WAIT_SECONDS) as client:
                self._sign_in(client)
                self._repeat(client)
            self._work(server, number, answers)
        self.counted["kills"] += 1
        copy = self._directory / f"copy-{number}"
        copytree(self._store, copy)
        return check_store(copy)

    def finish(self) -> None:
        """The last restart, after which every key must have its answer."""
        with (
            Server(self._store, clock_offset_millis=self._late_millis) as server,
            httpx.Client(base_url=server.url, timeout=WAIT_SECONDS) as client,
        ):
            self._repeat(client)
            for key, request in self._asked.items():
                if key in self._answered:
                    self._same(client, key, request)
            assert 0 == server.stop()

    def _sign_in(self, client: httpx.Client) -> None:
        if self._secret:
            return
        capabilities = ["memory_read", "memory_write", "memory_review", "memory_mine"]
        spec = {"subject_id": "ada", "capabilities": capabilities, "grants": [SCOPE]}
        headers = {"authorization": f"Bearer {self._admin}"}
        made = client.post(CREDENTIALS, json={"contract_version": 1, "spec": spec}, headers=headers)
        assert 201 == made.status_code, made.text
        self._secret = made.json()["secret"]

    def _repeat(self, client: httpx.Client) -> None:
        """What was in flight when the server died gets its answer; a part of what was answered, the same."""
        for key, request in list(self._unknown.items()):
            answer = self._send(client, request)
            self.counted[f"resolved {'accepted' if answer.status_code == 200 else 'refused'}"] += 1
            self._learn(key, request, answer)
        self._unknown.clear()
        for key in [*self._answered][-ANSWERS_MAX:]:
            self._same(client, key, self._asked[key])

    def _same(self, client: httpx.Client, key: str, request: Request) -> None:
        again = self._send(client, request)
        assert 200 == again.status_code, (key, again.text)
        assert self._answered[key] == lasting(request, again.json()), key
        self.counted["replayed"] += 1

    def _send(self, client: httpx.Client, request: Request) -> httpx.Response:
        return client.post(request.path, json=request.body, headers={"authorization": f"Bearer {self._secret}"})

    def _learn(self, key: str, request: Request, answer: httpx.Response) -> None:
        assert answer.status_code in (200, 400, 404, 409), (request, answer.text)
        self._asked[key] = request
        if answer.status_code == 200:
            self._answered[key] = lasting(request, answer.json())
            self.known.learn(request, answer.json())

    def _work(self, server: Server, number: int, answers: int) -> None:
        """Lets the clients work until so many answers have come, and kills the server in the middle of the others."""
        enough, lock = Condition(), Lock()
        come = 0

        def work(place: int) -> None:
            nonlocal come
            worker = Ideas(self.known, f"{self._seed}/{number}/{place}")
            with httpx.Client(base_url=server.url, timeout=WAIT_SECONDS) as client:
                while True:
                    request = worker.next()
                    key = request.body["idempotency_key"]
                    try:
                        answer = self._send(client, request)
                    except httpx.TransportError:
                        with lock:
                            self._unknown[key] = request
                        return
                    with lock:
                        self._learn(key, request, answer)
                        self.counted[f"{request.kind} {'accepted' if answer.status_code == 200 else 'refused'}"] += 1
                    with enough:
                        come += 1
                        enough.notify()

        with ThreadPoolExecutor(WORKERS) as pool:
            working = [pool.submit(work, place) for place in range(WORKERS)]
            with enough:
                arrived = enough.wait_for(lambda: come >= answers or any(one.done() for one in working), WAIT_SECONDS)
            assert server.process.poll() is None, "the server ended by itself"
            server.process.kill()
            server.process.wait(WAIT_SECONDS)
            for one in working:
                one.result(WAIT_SECONDS)
        assert arrived, "the server gave no answers"


def run(kills: int, seed: int, directory: Path, tell: Callable[[str], object] = str) -> Counter[str]:
    """So many kills, on as many stores as that takes; what was counted. `tell` hears of each store when it is done."""
    total: Counter[str] = Counter()
    for start in range(0, kills, ROUNDS_A_STORE):
        campaign = Campaign(_made(directory / f"from-{start}"), seed)
        rounds = range(start, min(kills, start + ROUNDS_A_STORE))
        found = [campaign.round(number, _answers(seed, number)) for number in rounds]
        campaign.finish()
        total += campaign.counted
        total += Counter({f"{name} at the end": value for name, value in found[-1]._asdict().items()})
        tell(f"after {total['kills']} kills: {found[-1]}")
    return total


def _answers(seed: int, number: int) -> int:
    """After how many answers a round ends."""
    return Ideas(Known(), f"{seed}/{number}").dice.randint(1, ANSWERS_MAX)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def main(arguments: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="relatum-judgments-") as directory:
        total = run(arguments.kills, arguments.seed, Path(directory), tell=lambda line: print(line, flush=True))  # noqa: T201
    print("\n".join(f"{number:6} {what}" for what, number in sorted(total.items())))  # noqa: T201
    return 0


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="python -m tests.judgments.killing", description=__doc__)
    made.add_argument("--kills", type=int, default=100)
    made.add_argument("--seed", type=int, default=0, help="other commands for another number")
    return made


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
