"""No client of relatum's hands a secret to a proxy that the environment names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import relatum

ROOT = Path(relatum.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "docs" / "howto"
ASKING = {"AsyncClient", "Client", "delete", "get", "head", "options", "patch", "post", "put", "request", "stream"}


def calls(path: Path) -> Iterator[ast.Call]:
    """Where a module makes a client of httpx, or asks without one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and (node.func.value.id, node.func.attr in ASKING) == ("httpx", True)
        ):
            yield node


def heeds_no_proxy(call: ast.Call) -> bool:
    """A client with a transport of its own takes no proxy of the environment either."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    return "transport" in given or given.get("trust_env") == "False"


def test_no_client_takes_a_proxy_from_the_environment() -> None:
    found = {
        f"{path.name}:{call.lineno}": heeds_no_proxy(call)
        for path in (*ROOT.rglob("*.py"), *EXAMPLES.glob("*.py"))
        for call in calls(path)
    }
    assert len(found) > 3
    assert [] == [place for place, sound in found.items() if not sound]
