"""Walks along relations with typed edges: the wire has two kinds of them without a tag."""

from __future__ import annotations

import msgspec

from relatum.core.answers.graphs import DerivedEdge, TypedGraph
from relatum.core.answers.relations import Relation


class TypedWalk(TypedGraph, frozen=True, kw_only=True):
    """The neighbourhood of the roots; `relations` are its authored edges, `mined` the others, `edges` all of them."""

    relations: tuple[Relation, ...]
    mined: tuple[DerivedEdge, ...]


def typed_walk(graph: TypedGraph) -> TypedWalk:
    """A graph as decoded, with its edges as what they are."""
    edges = tuple(msgspec.convert(edge, DerivedEdge if "layer" in edge else Relation) for edge in graph.edges)
    members = {name: getattr(graph, name) for name in graph.__struct_fields__ if name != "edges"}
    return TypedWalk(
        **members,
        edges=edges,
        relations=tuple(edge for edge in edges if isinstance(edge, Relation)),
        mined=tuple(edge for edge in edges if isinstance(edge, DerivedEdge)),
    )
