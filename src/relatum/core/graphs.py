"""What the two graph walks are asked and what they answer (graphs.md).

Ranges of integers and names of kinds are checked by decoding; null means the same as omission. Numbers of roots and
kinds, their distinctness and the class of the kinds are static rules: `problem` names the first one that is broken.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.answers.graphs import (
    Direction,
    EvidenceBounds,
    StopReason,
    TypedBounds,
)
from relatum.core.ids import Scope
from relatum.core.kinds import REGISTRY, Kind, kinds_of
from relatum.core.wire import Closed, Sparse, Uuid, canonical_uuid

STOP_REASONS: tuple[StopReason, ...] = ("depth_limit", "node_limit", "edge_limit", "scan_limit")
"""In the order in which an answer names them."""

KINDS_DEFAULT = kinds_of("memory")


def _bounds(least: int, greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": greatest, "default": default})


Roots = Annotated[tuple[Uuid, ...], Meta(extra_json_schema={"minItems": 1, "maxItems": limits.GRAPH_ROOTS_MAX})]
TypedDepth = Annotated[int, _bounds(0, limits.GRAPH_DEPTH_MAX, limits.TYPED_DEPTH_DEFAULT)]
EvidenceDepth = Annotated[int, _bounds(0, limits.GRAPH_DEPTH_MAX, limits.EVIDENCE_DEPTH_DEFAULT)]
NodeLimit = Annotated[int, _bounds(1, limits.GRAPH_NODES_MAX, limits.GRAPH_NODES_DEFAULT)]
EdgeLimit = Annotated[int, _bounds(1, limits.GRAPH_EDGES_MAX, limits.GRAPH_EDGES_DEFAULT)]
ScanLimit = Annotated[int, _bounds(1, limits.GRAPH_SCAN_MAX, limits.GRAPH_SCAN_DEFAULT)]


class TypedGraphQuery(Sparse, frozen=True, kw_only=True):
    """Query of a typed graph. `relation_kinds` are of one class; without them the walk follows the class `memory`.

    `include_derived` walks mined edges too, each marked as such.
    """

    root_record_ids: Roots
    direction: Direction | None = "both"
    relation_kinds: tuple[Kind, ...] | None = None
    max_depth: TypedDepth | None = None
    node_limit: NodeLimit | None = None
    edge_limit: EdgeLimit | None = None
    scan_limit: ScanLimit | None = None
    include_derived: bool | None = False

    def __post_init__(self) -> None:
        force_setattr(self, "root_record_ids", tuple(map(canonical_uuid, self.root_record_ids)))
        _check_range(self.max_depth, 0, limits.GRAPH_DEPTH_MAX)
        _check_range(self.node_limit, 1, limits.GRAPH_NODES_MAX)
        _check_range(self.edge_limit, 1, limits.GRAPH_EDGES_MAX)
        _check_range(self.scan_limit, 1, limits.GRAPH_SCAN_MAX)

    def problem(self) -> str | None:
        """The first static rule that the query breaks, in words; None for a sound one."""
        return _roots_problem(self.root_record_ids) or _kinds_problem(self.relation_kinds)

    def bounds(self) -> TypedBounds:
        """The effective members."""
        return TypedBounds(
            direction=self.direction or "both",
            relation_kinds=self.relation_kinds or KINDS_DEFAULT,
            max_depth=_or_default(self.max_depth, limits.TYPED_DEPTH_DEFAULT),
            node_limit=_or_default(self.node_limit, limits.GRAPH_NODES_DEFAULT),
            edge_limit=_or_default(self.edge_limit, limits.GRAPH_EDGES_DEFAULT),
            scan_limit=_or_default(self.scan_limit, limits.GRAPH_SCAN_DEFAULT),
            include_derived=self.include_derived or False,
        )


class EvidenceGraphQuery(Sparse, frozen=True, kw_only=True):
    """Query of an evidence graph."""

    root_record_ids: Roots
    max_depth: EvidenceDepth | None = None
    node_limit: NodeLimit | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "root_record_ids", tuple(map(canonical_uuid, self.root_record_ids)))
        _check_range(self.max_depth, 0, limits.GRAPH_DEPTH_MAX)
        _check_range(self.node_limit, 1, limits.GRAPH_NODES_MAX)

    def problem(self) -> str | None:
        """The first static rule that the query breaks, in words; None for a sound one."""
        return _roots_problem(self.root_record_ids)

    def bounds(self) -> EvidenceBounds:
        """The effective members."""
        return EvidenceBounds(
            max_depth=_or_default(self.max_depth, limits.EVIDENCE_DEPTH_DEFAULT),
            node_limit=_or_default(self.node_limit, limits.GRAPH_NODES_DEFAULT),
        )


class TypedGraphRead(Closed, frozen=True, kw_only=True):
    """Body of `graph/typed`."""

    contract_version: int
    scope: Scope
    query: TypedGraphQuery


class EvidenceGraphRead(Closed, frozen=True, kw_only=True):
    """Body of `graph/evidence`."""

    contract_version: int
    scope: Scope
    query: EvidenceGraphQuery


def _check_range(value: int | None, least: int, greatest: int) -> None:
    if value is not None and not least <= value <= greatest:
        raise ValueError(f"a limit lies between {least} and {greatest}")


def _or_default(value: int | None, default: int) -> int:
    return default if value is None else value


def _roots_problem(record_ids: tuple[str, ...]) -> str | None:
    if not 1 <= len(record_ids) <= limits.GRAPH_ROOTS_MAX or len(set(record_ids)) != len(record_ids):
        return "root_record_ids must be 1 to 16 distinct ids"
    return None


def _kinds_problem(kinds: tuple[Kind, ...] | None) -> str | None:
    if kinds is None:
        return None
    if not kinds or len(set(kinds)) != len(kinds):
        return "relation_kinds must be distinct, and at least one"
    if len({REGISTRY[kind].kind_class for kind in kinds}) > 1:
        return "relation_kinds must be of one class"
    return None
