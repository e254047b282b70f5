"""The floor of HTTP: the ledger's web stack, which decodes each request and answers what it was given beforehand.

    python -m relatum.cli.bench.floors.echo FILE

FILE is JSON: by path, which body is decoded there and what is answered. Starlette on uvicorn, with uvloop and httptools
and the settings of the ledger's server; the body is decoded into the struct of the route. Neither strict JSON, nor who
asks, nor any state is looked at, and nothing is written.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from relatum.core.commands import RelationCommand
from relatum.core.feeds import ChangesBody
from relatum.core.queries import RelationRead

BACKLOG: Final = 1_024

Decoded = Literal["command", "read", "changes"]
_BODIES: Final[Mapping[Decoded, type[Struct]]] = {
    "command": RelationCommand,
    "read": RelationRead,
    "changes": ChangesBody,
}


class Answer(Struct, frozen=True):
    """What one path decodes and answers."""

    decoded: Decoded
    body: str


def write_answers(path: Path, answers: Mapping[str, Answer]) -> Path:
    """The file that the server is started with."""
    path.write_bytes(msgspec.json.encode(answers))
    return path


def main() -> None:
    """Serve until told to stop."""
    answers = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=dict[str, Answer])
    app = Starlette(routes=[Route(path, _endpoint(answer), methods=["POST"]) for path, answer in answers.items()])
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    config = uvicorn.Config(
        app,
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
    gc.collect()
    gc.freeze()  # as the ledger's server does
    host, port = listener.getsockname()
    sys.stdout.write(f"echo listening on http://{host}:{port}\n")  # what connects from now on waits in the backlog
    sys.stdout.flush()
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[listener]))


def _endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    decoder = msgspec.json.Decoder(_BODIES[answer.decoded])
    body = answer.body.encode()

    async def respond(request: Request) -> Response:
        decoder.decode(await request.body())
        return Response(body, media_type="application/json")

    return respond


if __name__ == "__main__":
    main()
