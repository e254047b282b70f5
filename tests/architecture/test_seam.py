"""Every door between the HTTP side and the ledger has a reason, and decision 0006 says what it needs to pass a socket.

A new door is a decision: it gets a line here and one there. Doors are found by how a file is written, without types. So
whoever holds a ledger calls it `ledger` or `_ledger`, and whatever is done with one but naming a member or giving it
such a name is found as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.project import PACKAGE, ROOT

HTTP = PACKAGE / "http"
DECISION = ROOT / "docs" / "decisions" / "0006-processes-in-front.md"

MEMBERS: Final = {
    # Commands: a value goes in, a value comes out
    "command": "the digest of a command, under the key of the store where it is one of records",
    "submit_async": "commands of records, relations and links",
    "judgments.submit_async": "commands of judgments, a batch item by item",
    "activate_async": "activates a change stream",
    "save_checkpoint_async": "saves a checkpoint",
    "issue_credential": "issues a credential and tells its secret",
    "rotate_credential": "gives a credential another secret",
    "revoke_credential": "ends a credential",
    "change_scope_authority": "gives a credential other scopes",
    # Views
    "view": "one cut for all that a request reads; broken journals are reported through it",
    # Followers
    "follow": "wakes long polls and streams",
    # Beside the store
    "judgments.search": "asks the search index for words",
    "judgments.resembling": "asks it for what resembles a text",
    "judgments.surroundings": "asks it for the records of a context block",
    "judgments.with_detection": "compares a save with what is there, before it is submitted",
    "judgments.keep_in_step": "indexes what was committed, before it is answered",
    "judgments.ages": "from when on candidates are offered again",
    "derived": "mined edges, which reads walk beside the view",
    "derived.replace": "takes in a page of mined edges",
    "derived.drop": "removes the mined edges of a partition",
    # The server's own
    "clock": "the time, never before the last commit; for the scrub and the log",
    "metrics": "counted here and below, told on one page",
    "readiness": "whether commands are accepted",
    "in_turns_with": "the writer shares the event loop",
    "judgments.sweep_due": "the timer of the sweep",
    "image": "an operator's backup",
    "compact": "an operator's compaction",
    "close": "the end of the server",
    # The examples of the document, made by a program of their own
    "in_memory": "a ledger for the examples",
    "bootstrap": "its administrator",
}
"""What is used of a ledger, and what for."""

PARTS: Final = frozenset({"derived", "judgments"})
"""Members of which it is told apart what is used of them."""

HANDED_ON: Final = frozenset(
    {
        "ledger = ledger",  # any assignment to such a name
        "return self.services.ledger",  # as `Call.ledger`
        "Services()",
        "Watches()",
        "_close()",
        "services_of()",
        "walk()",
    }
)
"""Where a ledger goes on to somebody in the package who calls it so, too."""

MODULES: Final = {
    "relatum.store.partition": "the type of what reads are given: a partition of a view",
    "relatum.store.recounts": "the sign that a read has to count rows first, and belongs in a thread",
    "relatum.store.view": "the type of a view",
    "relatum.writer.submission": "the type of a command that is ready to be submitted",
}
"""What is imported from the store and the writer, and what for."""

NAMES: Final = frozenset({"ledger", "_ledger"})
KEPT: Final = "ledger = ledger"


def members(source: str) -> Iterator[str]:
    """What is done with a ledger: its members by name, anything else as it is written."""
    tree = ast.parse(source)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                if name in NAMES or (name == "Ledger" and isinstance(parents[node], ast.Attribute | ast.Call)):
                    yield _done_with(node, parents)
            case ast.arg(arg=name, annotation=ast.expr() as annotation):
                if name not in NAMES and "Ledger" in _names_in(annotation):
                    yield ast.unparse(node)
            case ast.alias(name="Ledger", asname=str()):
                yield ast.unparse(node)


def _done_with(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    parent = parents[node]
    above = parents[parent]
    match parent:
        case ast.Attribute(attr=member):
            if member in PARTS and isinstance(above, ast.Attribute):
                return f"{member}.{above.attr}"
            return member
        case ast.Call(func=called) if called is not node:
            return f"{ast.unparse(called)}()"
        case ast.Assign(targets=[target]) if NAMES & _names_in(target):
            return KEPT
        case ast.Tuple() if isinstance(above, ast.Assign) and all(NAMES & _names_in(one) for one in above.targets):
            return KEPT
        case _:
            return ast.unparse(parent)


def _names_in(node: ast.AST) -> set[str]:
    return {
        one.id if isinstance(one, ast.Name) else one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Name | ast.Attribute)
    }


def modules(source: str) -> Iterator[str]:
    """The modules of the store and the writer that are imported anywhere; a room, where it is imported as a whole."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            of_room = node.module in {"relatum", "relatum.store", "relatum.writer"}
            names = [f"{node.module}.{alias.name}" for alias in node.names] if of_room else [node.module]
        yield from (name for name in names if name.startswith(("relatum.store", "relatum.writer")))


def sources(folder: Path) -> Iterator[str]:
    return (path.read_text() for path in sorted(folder.rglob("*.py")))


def doors(folder: Path) -> set[str]:
    """All that the files below a folder take of a ledger, but for handing it on among themselves."""
    return {found for source in sources(folder) for found in members(source)} - HANDED_ON


def imported(folder: Path) -> set[str]:
    return {found for source in sources(folder) for found in modules(source)}


def untold(names: set[str], page: str) -> set[str]:
    """The doors that a page does not name."""
    return {name for name in names if f"`{name}`" not in page}


def test_each_door_of_the_ledger_has_a_reason_and_each_reason_a_door() -> None:
    assert set(MEMBERS) == doors(HTTP)


def test_a_ledger_is_handed_on_only_where_it_keeps_its_name() -> None:
    assert {found for source in sources(HTTP) for found in members(source)} >= HANDED_ON


def test_each_module_of_the_store_and_the_writer_has_a_reason_and_each_reason_a_module() -> None:
    assert set(MODULES) == imported(HTTP)


def test_the_decision_tells_of_every_door() -> None:
    assert set() == untold(set(MEMBERS), DECISION.read_text(encoding="utf-8"))
    assert {"follow"} == untold({"view", "follow"}, "The door `view`; one must follow.")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A tree that keeps its ledger under its name, and uses one door."""
    (tmp_path / "endpoints").mkdir()
    (tmp_path / "services.py").write_text(
        "from relatum.ledger import Ledger\n"
        "class Services:\n"
        "    def __init__(self, ledger: Ledger) -> None:\n"
        "        self._ledger = ledger\n"
        "        self.watches = Watches(ledger)\n"
        "    def read(self):\n"
        "        ledger, patience = self._ledger, 1\n"
        "        with ledger.view() as view: return view.position\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("statement", "door"),
    [
        ("call.ledger.upkeep.ballast", "upkeep"),
        ("call.services.ledger.judgments.submit(operation)", "judgments.submit"),
        ("typed_graph(reader, call.ledger.derived)", "derived"),
        ("work = partial(self._ledger.compact)", "compact"),
        ("lambda: call.ledger._committer", "_committer"),
        ("getattr(call.ledger, 'upkeep')", "getattr()"),
        ("store = call.ledger", "store = call.ledger"),
        ("stores = [call.ledger]", "[call.ledger]"),
        ("serve(store=ledger)", "store=ledger"),
        ("def serve(store: Ledger | None) -> None: ...", "store: Ledger | None"),
        ("from relatum.ledger import Ledger as Store", "Ledger as Store"),
        ("Ledger.open(directory)", "open"),
        ("Ledger(database)", "Ledger(database)"),
    ],
)
def test_a_new_door_is_noticed(planted: Path, statement: str, door: str) -> None:
    assert {"view"} == doors(planted)
    (planted / "endpoints" / "new.py").write_text(statement + "\n")
    assert {"view", door} == doors(planted)


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from relatum.store.upkeep import Image", "relatum.store.upkeep"),
        ("from relatum.store import rocks", "relatum.store.rocks"),
        ("from relatum import writer", "relatum.writer"),
        ("import relatum.writer.committer as writing", "relatum.writer.committer"),
        ("def late() -> None:\n    from relatum.store.view import LedgerView", "relatum.store.view"),
    ],
)
def test_a_new_import_is_noticed(planted: Path, statement: str, module: str) -> None:
    assert set() == imported(planted)
    (planted / "endpoints" / "new.py").write_text(statement + "\n")
    assert {module} == imported(planted)
