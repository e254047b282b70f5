"""What goes wrong with a text export; messages are for the operator."""

from __future__ import annotations

from relatum.errors import Failure


class ExportRefused(Failure):
    """An export would leave out what counts, or has no place to go. Nothing was written."""


class TextUnusable(Failure):
    """What is to be imported is no whole, unaltered export. Nothing was written."""


class ImportRefused(Failure):
    """What is to be imported does not go into the store. Nothing was written, unless the message says so."""
