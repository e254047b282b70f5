"""A request reaches the ledger in three ways: it submits, it views, it follows. All else belongs to the process.

A new door is a decision: it gets a line here and one in decision 0006. Doors are found by how a file is written,
without types. So whoever holds a ledger calls it `ledger` or `_ledger`, and whatever is done with one but naming a
member or giving it such a name is found as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Final, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from relatum.errors import Failure
from relatum.ledger import Ledger
from relatum.ledger.judgments import Judging
from relatum.ledger.mined_edges import Mining
from tests.architecture.project import PACKAGE, ROOT

HTTP = PACKAGE / "http"
DECISION = ROOT / "docs" / "decisions" / "0006-processes-in-front.md"

SUBMIT: Final = {
    "command": "a command of records, relations or links as it is submitted, with its digest",
    "submit_async": "such commands; saves are compared and indexed within",
    "judgments.submit_async": "commands of judgments, a batch item by item",
    "activate_async": "activates a change stream",
    "save_checkpoint_async": "saves a checkpoint",
    "issue_credential": "issues a credential and tells its secret",
    "rotate_credential": "gives a credential another secret",
    "revoke_credential": "ends a credential",
    "change_scope_authority": "gives a credential other scopes",
    "mining.replace": "takes in a page of mined edges",
    "mining.drop": "removes the mined edges of a partition",
    "mining.repair": "leads mined edges on, or drops them",
}
"""Values go in, values come out."""

VIEW: Final = {
    "view": "all that is read: rows, whose a token is, the search index, mined edges, ages; reports broken journals",
}
"""One cut for all that a request reads."""

FOLLOW: Final = {
    "follow": "wakes long polls and streams",
}
"""What tells that there is something to view."""

PROCESS: Final = {
    "clock": "the time, never before the last commit; for the scrub and the log",
    "metrics": "counted here and below, told on one page",
    "readiness": "whether commands are accepted",
    "in_turns_with": "the writer shares the event loop",
    "trace_writes": "waits and groups are traced",
    "judgments.sweep_due": "the timer of the sweep",
    "image": "an operator's backup",
    "compact": "an operator's compaction",
    "close": "the end of the server",
    "in_memory": "a ledger for the examples of the document, which a program of their own makes",
    "bootstrap": "its administrator",
}
"""Of whoever owns the ledger; no request of a client leads there."""

OWNERS: Final = ("openapi", "operator.py", "server.py", "server_state.py", "sweeper.py")
"""Where the process is at work, below `http`: start and end, the timer, the operator; the program of the examples."""

PARTS: Final = frozenset({"judgments", "mining"})
"""Members of which it is told apart what is used of them."""

HANDED_ON: Final = frozenset(
    {
        "ledger = ledger",  # any assignment to such a name
        "return self.services.ledger",  # as `Call.ledger`
        "Services()",
        "Watches()",
        "_closed()",
        "services_of()",
        "walk()",
    }
)
"""Where a ledger goes on to somebody in the package who calls it so, too."""

MODULES: Final = {
    "relatum.ledger.derived.repair": "a function over a view: which mined edges dangle",
    "relatum.store.backup.archive": "an operator's backup, as one stream",
    "relatum.store.backup.operator_paths": "where an operator asks for it",
    "relatum.store.verify.scrub": "the scrub, which goes on beside all requests",
    "relatum.store.partition": "the type of what reads are given: a partition of a view",
    "relatum.store.counts": "the sign that a read has to count rows first, and belongs in a thread",
    "relatum.ledger.writer.submission": "the type of a command that is ready to be submitted",
}
"""What is imported from the store, the writer and what is derived beside the store, and what for."""

ROOMS: Final = ("relatum.ledger.derived", "relatum.ledger.search", "relatum.store", "relatum.ledger.writer")
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
    """The modules of some rooms that are imported anywhere; a room, where it is imported as a whole."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            of_room = node.module in {"relatum", "relatum.ledger", *ROOMS}
            names = [f"{node.module}.{alias.name}" for alias in node.names] if of_room else [node.module]
        yield from (name for name in names if name.startswith(ROOMS))


def sources(folder: Path) -> Iterator[str]:
    return (path.read_text() for path in sorted(folder.rglob("*.py")))


def done(texts: Iterator[str]) -> set[str]:
    """All that some files take of a ledger, but for handing it on among themselves."""
    return {found for text in texts for found in members(text)} - HANDED_ON


def doors(folder: Path) -> set[str]:
    return done(sources(folder))


def doors_of_requests(folder: Path) -> set[str]:
    """What the files take that serve a client's requests."""
    paths = (path for path in sorted(folder.rglob("*.py")) if path.relative_to(folder).parts[0] not in OWNERS)
    return done(path.read_text() for path in paths)


def imported(folder: Path) -> set[str]:
    return {found for source in sources(folder) for found in modules(source)}


def untold(names: set[str], page: str) -> set[str]:
    """The doors that a page does not name."""
    return {name for name in names if f"`{name}`" not in page}


def values(door: Callable[..., object]) -> Iterator[object]:
    """The types that a door takes and gives, one by one."""
    for hint in get_type_hints(door).values():
        yield from _alternatives(hint)


def _alternatives(hint: object) -> Iterator[object]:
    if get_origin(hint) in {Union, UnionType, Sequence, list}:
        for one in get_args(hint):
            yield from _alternatives(one)
    else:
        yield hint


def held(kind: object) -> Iterator[msgspec.inspect.Type]:
    """What there is in a value of a type, all the way down."""
    waiting: list[object] = [msgspec.inspect.type_info(kind)]
    seen: list[object] = []
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting += one
        elif isinstance(one, msgspec.inspect.Type | msgspec.inspect.Field) and one not in seen:
            seen.append(one)
            waiting += [getattr(one, name) for name in one.__struct_fields__]
            if isinstance(one, msgspec.inspect.Type):
                yield one


def no_value(kind: object) -> bool:
    """Whether there is something in a type that no bytes can say. (Any is whatever a client has sent as JSON.)"""
    return any(isinstance(one, msgspec.inspect.CustomType) for one in held(kind))


def door(name: str) -> Callable[..., object]:
    """The function behind a door of the ledger."""
    part, _, member = name.rpartition(".")
    found: Callable[..., object] = getattr({"": Ledger, "judgments": Judging, "mining": Mining}[part], member)
    return found


def test_each_door_of_the_ledger_has_a_reason_and_each_reason_a_door() -> None:
    assert set(SUBMIT | VIEW | FOLLOW | PROCESS) == doors(HTTP)
    assert len(SUBMIT | VIEW | FOLLOW | PROCESS) == sum(map(len, (SUBMIT, VIEW, FOLLOW, PROCESS)))


def test_a_request_submits_views_and_follows_and_does_nothing_else_with_a_ledger() -> None:
    assert set(SUBMIT | VIEW | FOLLOW) == doors_of_requests(HTTP)


@pytest.mark.parametrize("name", SUBMIT)
def test_what_is_submitted_and_what_comes_back_are_values_but_for_failures(name: str) -> None:
    kinds = set(values(door(name)))
    assert kinds
    assert {kind for kind in kinds if no_value(kind)} <= {Failure}


def test_a_view_is_no_value() -> None:
    assert any(map(no_value, values(Ledger.view)))


def test_a_ledger_is_handed_on_only_where_it_keeps_its_name() -> None:
    assert {found for source in sources(HTTP) for found in members(source)} >= HANDED_ON


def test_each_module_of_the_rooms_below_has_a_reason_and_each_reason_a_module() -> None:
    assert set(MODULES) == imported(HTTP)


def test_the_decision_tells_of_every_door() -> None:
    assert set() == untold(set(SUBMIT | VIEW | FOLLOW | PROCESS), DECISION.read_text(encoding="utf-8"))
    assert {"follow"} == untold({"view", "follow"}, "The door `view`; one must follow.")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A tree that keeps its ledger under its name, and uses one door."""
    (tmp_path / "endpoints").mkdir()
    (tmp_path / "watching.py").write_text(
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
        ("typed_graph(reader, call.ledger._derived)", "_derived"),
        ("edges = call.ledger.mining", "mining"),
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


def test_a_request_that_uses_a_door_of_the_process_is_noticed(planted: Path) -> None:
    (planted / "server.py").write_text("ledger.close()\n")
    assert {"view"} == doors_of_requests(planted)
    (planted / "endpoints" / "server.py").write_text("call.ledger.close()\n")
    assert {"view", "close"} == doors_of_requests(planted)


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from relatum.store.file_maintenance import Image", "relatum.store.file_maintenance"),
        ("from relatum.store import rocks", "relatum.store.rocks"),
        ("from relatum.ledger import writer", "relatum.ledger.writer"),
        ("import relatum.ledger.writer.committer as writing", "relatum.ledger.writer.committer"),
        ("def late() -> None:\n    from relatum.store.view import LedgerView", "relatum.store.view"),
    ],
)
def test_a_new_import_is_noticed(planted: Path, statement: str, module: str) -> None:
    assert set() == imported(planted)
    (planted / "endpoints" / "new.py").write_text(statement + "\n")
    assert {module} == imported(planted)
