"""A proxy of bad manners between a client and a server: refuses, loses, cuts and delays answers, and says 503."""

from __future__ import annotations

import random  # noqa: TID251 - the weather has a seed
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Final, Literal, Self, get_args

Fault = Literal["refuse", "lose", "cut", "delay", "busy", "unavailable"]
FAULTS: Final = get_args(Fault)
BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%s"
)
ENVELOPE: Final = b'{"contract_version":1,"error":{"code":"%s","message":"the weather"}}'


class Weather:
    """Passes requests on, one a connection; does worse to `share` of them. A context manager.

    Whether the server has seen a request that fails depends on the fault: a refused one not, a lost one always.
    """

    def __init__(
        self,
        port: int,
        share: float = 0.4,
        seed: int = 1,
        delay: float = 0.3,
        faults: tuple[Fault, ...] = FAULTS,
    ) -> None:
        self._target = port
        self._share = share
        self._delay = delay
        self._faults = faults
        self._draw = random.Random(seed)
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self.faults: dict[str, int] = dict.fromkeys(FAULTS, 0)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for a connection
        self._listener.close()
        self._thread.join(5)

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _fault(self) -> Fault | None:
        with self._lock:
            if self._draw.random() >= self._share:
                return None
            fault: Fault = self._draw.choice(self._faults)
            self.faults[fault] += 1
            return fault

    def _serve(self, connection: socket.socket) -> None:
        fault = self._fault()
        with connection:
            try:
                connection.settimeout(10)
                if fault == "refuse":
                    return
                request = _whole(connection)
                if fault in ("busy", "unavailable"):
                    body = ENVELOPE % (b"write_busy" if fault == "busy" else b"storage_unavailable")
                    connection.sendall(BUSY % (len(body), body))
                    return
                answer = self._asked(request)
                if fault == "delay":
                    self._stopped.wait(self._delay)
                if fault == "cut":
                    answer = answer[: len(answer) // 2]
                if fault != "lose":
                    connection.sendall(answer)
            except OSError:
                return

    def _asked(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self._target), timeout=10) as server:
            server.sendall(request)
            return _whole(server)


def _whole(connection: socket.socket) -> bytes:
    """One message with a length; the connection is said to close after it."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            raise OSError("the peer is gone")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    lengths = [int(line.partition(b":")[2]) for line in lines if line.lower().startswith(b"content-length:")]
    while lengths and len(body) < lengths[0]:
        piece = connection.recv(65_536)
        if not piece:
            raise OSError("the peer is gone")
        body += piece
    return b"\r\n".join([*lines, b"connection: close"]) + b"\r\n\r\n" + body
