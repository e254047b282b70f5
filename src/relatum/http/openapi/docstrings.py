"""Docstrings that are told to users: they are there under `python -OO` too, which leaves them out of the code.

Help texts of commands and descriptions of the HTTP document are docstrings. Where they are missing they are read from
the source, which lies beside the code.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

LEFT_OUT: Final = sys.flags.optimize >= 2

_PACKAGE: Final = "relatum."


def docstring(documented: type | Callable[..., Any]) -> str | None:
    """The docstring of a class or a function at the top of a module of this package."""
    if not LEFT_OUT or documented.__doc__ is not None:
        return documented.__doc__
    return _docstrings(documented.__module__).get(documented.__qualname__)


def restore_docstrings() -> None:
    """Gives every class of the modules that are loaded its docstring, if the interpreter has left it out."""
    if LEFT_OUT:
        for name, module in list(sys.modules.items()):
            if name.startswith(_PACKAGE):
                for member in list(vars(module).values()):
                    if isinstance(member, type) and member.__module__ == name:
                        member.__doc__ = docstring(member)


@cache
def _docstrings(module: str) -> Mapping[str, str]:
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return {}
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return {node.name: text for node in nodes if (text := ast.get_docstring(node, clean=False)) is not None}
