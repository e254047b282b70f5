"""The file system, mounted, and the process that serves it."""

from __future__ import annotations

import os
import pickle
import select
import socket
import stat
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Final, NamedTuple, Self

from crash_tests.kernel import mount, unmount
from crash_tests.power.forked import Forked
from crash_tests.power.lossy.answers import Answers
from crash_tests.power.lossy.protocol import REQUEST_BYTES_MAX
from crash_tests.power.lossy.tree import Directory, Loss
from crash_tests.violation import Violation

DEVICE: Final = Path("/dev/fuse")
ANSWER_SECONDS_MAX: Final = 60.0
SERVED_SECONDS_MAX: Final = 290.0


class Order(NamedTuple):
    """What the serving process is told besides the kernel's requests: lose what was not synced, or save the tree."""

    loss: Loss | None = None
    seed: str = ""
    save: Path | None = None


class LossyDisk:
    """A file system that loses what was not synced when `cut_power` says so. Mounted as long as the context lasts."""

    def __init__(self, place: Path, log: Path, *, tree: Path | None = None, lies: bool = False) -> None:
        """It holds what was saved in `tree`, or nothing."""
        self.place = place
        self._log = log
        self._tree = tree
        self._lies = lies

    def __enter__(self) -> Self:
        self.place.mkdir(exist_ok=True)
        device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(ANSWER_SECONDS_MAX)
        try:
            mount("relatum-lossy", self.place, "fuse", f"fd={device},rootmode={stat.S_IFDIR:o},user_id=0,group_id=0")
            self._server = Forked(lambda _: self._serve(device, theirs), self._log, SERVED_SECONDS_MAX)
        finally:
            os.close(device)
            theirs.close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            unmount(self.place)
        self._ours.close()
        self._server.__exit__(kind, error, trace)

    def cut_power(self, loss: Loss, seed: str) -> None:
        """What was not synced is lost, in the way that `loss` and the dice say."""
        self._order(Order(loss=loss, seed=seed))

    def save(self, tree: Path) -> None:
        """Everything, as it is, into a file from which another one can begin."""
        self._order(Order(save=tree))

    def _order(self, order: Order) -> None:
        self._ours.send(pickle.dumps(order))
        try:
            done = self._ours.recv(1)
        except TimeoutError as late:
            raise Violation("the lossy file system did not answer") from late
        if not done:
            raise Violation(f"the lossy file system is gone{self._server.log_tail()}")

    def _serve(self, device: int, orders: socket.socket) -> None:
        """Until it is unmounted. An order is carried out between two requests."""
        root = Directory() if self._tree is None else pickle.loads(self._tree.read_bytes())
        answers = Answers(root, lies=self._lies)
        while True:
            ready, _, _ = select.select([device, orders.fileno()], [], [])
            if orders.fileno() in ready:
                order = orders.recv(4096)
                if not order:
                    return
                _carry_out(pickle.loads(order), root)
                orders.send(b"1")
            elif not _answer(device, answers):
                return


def _answer(device: int, answers: Answers) -> bool:
    """Answers one request; False once the file system is unmounted."""
    try:
        message = os.read(device, REQUEST_BYTES_MAX)
    except FileNotFoundError:  # it was called off before it could be read
        return True
    except OSError:
        return False
    answer = answers.answer(message)
    if answer is not None:
        with suppress(FileNotFoundError):  # whoever asked has been killed
            os.write(device, answer)
    return True


def _carry_out(order: Order, root: Directory) -> None:
    if order.loss is not None:
        root.lose(order.loss, Random(order.seed))
    if order.save is not None:
        order.save.write_bytes(pickle.dumps(root))
