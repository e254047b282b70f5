"""System calls that Python has no functions for: mounts, loop devices, clones, and the end of a file system."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import struct
from pathlib import Path
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

_CLONE_NEWNS: Final = 0x00020000
_MS_REC, _MS_PRIVATE = 0x4000, 1 << 18
_PR_SET_PDEATHSIG: Final = 1

_LOOP_CTL_GET_FREE: Final = 0x4C82
_LOOP_CONFIGURE: Final = 0x4C0A
_LOOP_AUTOCLEAR: Final = 4
_LOOP_CONFIG: Final = struct.Struct("=II5Q4I64s64s32s2Q64x")
"""The image's descriptor and block size; of `loop_info64` all but the flags may be 0."""
_LOOP_BLOCK_BYTES: Final = 512
_LOOP_ATTEMPTS_MAX: Final = 100

_FICLONE: Final = 0x40049409
_GOING_DOWN: Final = 0x8004587D
_FLUSH_LOG, _FLUSH_NOTHING = 1, 2


def mount(source: str, target: Path, kind: str, options: str = "") -> None:
    """Mounts a device of that name. Raises OSError."""
    _call("mount", source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(0), options.encode())


def unmount(target: Path) -> None:
    """Unmounts. Raises OSError, EBUSY where something there is still open."""
    _call("umount2", os.fsencode(target), ctypes.c_int(0))


def take_own_mounts() -> None:
    """From now on nobody outside sees what this process and its children mount; with the last of them it is gone."""
    _call("unshare", ctypes.c_int(_CLONE_NEWNS))
    _call("mount", b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None)


def die_with_parent(number: signal.Signals = signal.SIGKILL) -> None:
    """The kernel sends this process a signal when the one that made it ends."""
    _call("prctl", ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(number))


def attach_loop(image: Path) -> tuple[str, int]:
    """A loop device over an image: its name, and a descriptor. It lets go when descriptor and mounts are closed."""
    backing = os.open(image, os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(_LOOP_ATTEMPTS_MAX):
            name = f"/dev/loop{_free_loop()}"
            device = os.open(name, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _LOOP_CONFIGURE, _loop_config(backing))
            except OSError:  # somebody else was faster
                os.close(device)
            else:
                return name, device
    finally:
        os.close(backing)
    raise OSError("no loop device could be had")


def clone(source: int, target: int) -> None:
    """The target becomes the source as it is now, in one moment (FICLONE). Raises OSError where the two can't share."""
    fcntl.ioctl(target, _FICLONE, source)


def shut_down(target: Path, *, flush_log: bool = False) -> None:
    """The file system mounted at `target` is cut off from its device, with whatever it has not written.

    With `flush_log` its own log gets there first: it may know of lengths and blocks whose data never came.
    """
    directory = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(directory, _GOING_DOWN, struct.pack("=I", _FLUSH_LOG if flush_log else _FLUSH_NOTHING))
    finally:
        os.close(directory)


def _free_loop() -> int:
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
    finally:
        os.close(control)


def _loop_config(backing: int) -> bytes:
    nothing = b""
    return _LOOP_CONFIG.pack(
        backing, _LOOP_BLOCK_BYTES, 0, 0, 0, 0, 0, 0, 0, 0, _LOOP_AUTOCLEAR, nothing, nothing, nothing, 0, 0
    )


def _call(name: str, *arguments: object) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
