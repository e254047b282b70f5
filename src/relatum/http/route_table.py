"""The table of routes: every route there is, in the order in which the document shows them."""

from __future__ import annotations

from typing import Final

from relatum.http.endpoints import (
    annotated,
    changes,
    checkpoints,
    company,
    company_workspace,
    credentials,
    derived,
    graphs,
    identity,
    judgments,
    public,
    receipts,
    record_commands,
    records,
    relation_commands,
    relations,
    review,
    stream,
    views,
)
from relatum.http.routes import AnyRoute

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *record_commands.ROUTES,
    *records.ROUTES,
    *relation_commands.ROUTES,
    *relations.ROUTES,
    *graphs.ROUTES,
    *changes.ROUTES,
    *checkpoints.ROUTES,
    *stream.ROUTES,
    *receipts.ROUTES,
    *judgments.ROUTES,
    *annotated.ROUTES,
    *views.ROUTES,
    *derived.ROUTES,
    *review.ROUTES,
    *identity.ROUTES,
    *credentials.ROUTES,
    *company.ROUTES,
    *company_workspace.ROUTES,
    *public.ROUTES,
)

METRICS_ROUTE: Final = public.METRICS_ROUTE
"""Served with the others, or on a listener of its own."""
