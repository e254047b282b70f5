"""Lines for the user's own shell: requests on what was loaded, with the real ids and the real secrets."""

from __future__ import annotations

from typing import NamedTuple

from relatum.cli.quickstart import tour
from relatum.cli.quickstart.api import Json
from relatum.cli.quickstart.corpus import tag
from relatum.cli.quickstart.keys import Keys
from relatum.cli.quickstart.load import Loaded


class Line(NamedTuple):
    """A line to paste, and what it shows."""

    shows: str
    line: str


def lines(keys: Keys, loaded: Loaded, hidden: str) -> list[Line]:
    """What to try next, from reading to writing. `hidden` is the relation that the tour left hidden."""
    admin, writer, reviewer, reader = keys
    one = next(iter(loaded.relations.values()))
    asserted_anew = tour.command("tour/anew", _at_revisions_of_now(loaded))
    return [
        Line("A PEP, found by the tag of its number", reader.curl("records/query", filter={"tag": tag("PEP566")})),
        Line("PEPs about metadata", reader.curl("records/query", filter={"text": "metadata", "limit": 3})),
        Line("What supersedes what", reviewer.curl("relations/query", filter={"kind": "supersedes", "limit": 3})),
        Line("A relation that is eligible", reader.curl("relations/read", relation_id=one)),
        Line("The one that the tour hid: a reader finds nothing", reader.curl("relations/read", relation_id=hidden)),
        Line("and a reviewer finds out why", reviewer.curl("relations/inspect", relation_id=hidden)),
        Line("Assert it anew, of PEP 8 as it is now", writer.curl("relations/commands", **asserted_anew)),
        Line("What the writer's key may do", writer.curl_get("/api/v1/identity")),
        Line("All keys of the company", admin.curl_get("/api/v1/credentials?contract_version=1")),
    ]


def _at_revisions_of_now(loaded: Loaded) -> Json:
    """The tour's assertion, of the revision that its last step made."""
    end = loaded.records[tour.STYLE]
    return {**tour.assertion(loaded), "target": {**end, "revision": end["revision"] + 1}}
