"""A peer behind HTTP: the web stack of the product, one route, one command a request.

    python -m relatum.cli.bench.peers.served STORE FORM DIRECTORY SEED

STORE is a key of `peers.available`, or `relatum` for the ledger in DIRECTORY behind this route instead of its own. FORM
is `pool`, a thread and a client for each of `POOL_THREADS` requests at once, or `committer`, one thread that commits
whatever has arrived. Nobody is asked who they are, and no body is held to strict JSON: a peer is given what it can be.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relatum.cli.bench.isolation import undisturbed
from relatum.cli.bench.peers import available
from relatum.cli.bench.peers.committer import Committer, committed
from relatum.cli.bench.peers.peer import Client, Peer
from relatum.cli.bench.peers.product import answered, submission
from relatum.cli.bench.peers.seed import Seed
from relatum.http.server import THREAD_SWITCH_SECONDS
from relatum.ledger import Ledger

PATH: Final = "/api/v1/memory/relations/commands"
POOL_THREADS: Final = 16
BACKLOG: Final = 1_024

Commit = Callable[[bytes], Awaitable[bytes]]


class Behind(NamedTuple):
    """What is behind the route: how it commits, and what it does for as long as the event loop serves."""

    commit: Commit
    in_turns_with: Callable[[asyncio.AbstractEventLoop], AbstractContextManager[None]] = lambda _: nullcontext()


def main() -> None:
    """Serves until told to stop; then lets go of the store in order."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit())
    store, form, directory, seed_file = sys.argv[1:]
    seed = msgspec.msgpack.decode(Path(seed_file).read_bytes(), type=Seed)
    with _behind(store, form, Path(directory), seed) as behind:
        _serve(behind)


def _behind(store: str, form: str, directory: Path, seed: Seed) -> AbstractContextManager[Behind]:
    if store == "relatum":
        return _ledger(directory, seed)
    peer = available().peers[store]()
    return _peer(peer, _pool if form == "pool" else _committer, directory, seed)


@contextmanager
def _ledger(directory: Path, seed: Seed) -> Iterator[Behind]:
    with Ledger.open(directory) as ledger:

        async def commit(body: bytes) -> bytes:
            [outcome] = await ledger.submit_async([submission(ledger, seed, body)])
            return answered(outcome)

        yield Behind(commit, ledger.in_turns_with)  # as `relatum serve` does


Form = Callable[[Peer], AbstractContextManager[Commit]]


@contextmanager
def _peer(peer: Peer, form: Form, directory: Path, seed: Seed) -> Iterator[Behind]:
    with ExitStack() as stack:
        with undisturbed():
            peer.start(directory)
            stack.callback(peer.stop)
        peer.load(seed)
        yield Behind(stack.enter_context(form(peer)))


@contextmanager
def _pool(peer: Peer) -> Iterator[Commit]:
    own, clients = threading.local(), list[Client]()

    def begin() -> None:
        own.client = peer.client()
        clients.append(own.client)

    def run(body: bytes) -> bytes:
        client: Client = own.client
        return client.commit([body])[0]

    with ThreadPoolExecutor(POOL_THREADS, initializer=begin) as threads:

        async def commit(body: bytes) -> bytes:
            return await asyncio.get_running_loop().run_in_executor(threads, run, body)

        yield commit
    for client in clients:
        client.close()


@contextmanager
def _committer(peer: Peer) -> Iterator[Commit]:
    loops: list[asyncio.AbstractEventLoop] = []

    def tell_all(tell: Callable[[], None]) -> None:
        loops[0].call_soon_threadsafe(tell)

    committer = Committer(peer.client, tell_all)

    async def commit(body: bytes) -> bytes:
        if not loops:
            loops.append(asyncio.get_running_loop())
        return await committed(committer, body)

    try:
        yield commit
    finally:
        committer.stop()


def _serve(behind: Behind) -> None:
    """As the product's server is set up, as far as that concerns speed."""

    async def respond(request: Request) -> Response:
        answer = await behind.commit(await request.body())
        return Response(answer, 409 if answer.startswith(b'{"error"') else 200, media_type="application/json")

    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    config = uvicorn.Config(
        Starlette(routes=[Route(PATH, respond, methods=["POST"])]),
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        backlog=BACKLOG,
    )
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    host, port = listener.getsockname()
    sys.stdout.write(f"peer listening on http://{host}:{port}\n")  # what connects from now on waits in the backlog
    sys.stdout.flush()

    async def serve() -> None:
        with behind.in_turns_with(asyncio.get_running_loop()):
            await uvicorn.Server(config).serve(sockets=[listener])

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(serve())


if __name__ == "__main__":
    main()
