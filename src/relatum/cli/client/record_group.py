"""`relatum record`: the group that the verbs of records belong to."""

from __future__ import annotations

import click


@click.group()
def record() -> None:
    """Create, save, revise, review and read records.

    \b
    Examples:
        relatum record save "Staging is deployed by app-staging." --topic-key deploy/staging
        relatum record list --tag deploy -o table
    """
