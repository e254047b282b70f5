"""The ledger in process: what writes, reads and derives, and the `Ledger` that brings them together.

`Ledger` is imported when it is first asked for, so that a program which wants one read does not wait for the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relatum.ledger.ledger import Ledger

__all__ = ["Ledger"]


def __getattr__(name: str) -> object:
    if name != "Ledger":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("relatum.ledger.ledger").Ledger
