"""`relatum export` and `relatum import`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from relatum.cli.exit_status import told_in_one_line
from relatum.cli.output import print_json, shown
from relatum.cli.progress import progress_bar

if TYPE_CHECKING:
    from relatum.ledger.text_export.exporter import Exported
    from relatum.ledger.text_export.importer import Imported

Command = TypeVar("Command", bound=Callable[..., Any])


class Unusable(click.ClickException):
    """What was given can't be right; exit status 2, like any other mistake on the command line."""

    exit_code = 2


def _links_options(command: Command) -> Command:
    leave_out = click.option(
        "--leave-out-ineligible",
        "leave_out",
        is_flag=True,
        help="Leave out what is active and can't be brought back, and count it.",
    )
    links = click.option(
        "--links",
        "directory",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        help="The directory with the text.",
    )
    return links(leave_out(command))


@click.command("export")
@click.argument("store", type=click.Path(file_okay=False, path_type=Path))
@_links_options
def export_command(store: Path, directory: Path, leave_out: bool) -> None:
    """Write what STORE holds as text: a file for each record, with its relations and links.

    Nobody may serve the store. The directory must be missing, or empty but for what version control leaves there.
    Everything is written in one order and one form, so that two exports can be compared line by line; a manifest counts
    what is there and has a digest of all of it. Mined edges, earlier revisions and what was deleted or retired stay
    out. Prints one JSON object with what is there and what was left out.

    \b
    Example:
        relatum export ./ledger --links ./memory-as-text

    What is active and can't be brought back (a relation to a record that was deleted, say) stops the export, unless
    --leave-out-ineligible is given.
    """
    from relatum.ledger import Ledger
    from relatum.ledger.text_export.export_errors import ExportRefused
    from relatum.ledger.text_export.exporter import export

    with told_in_one_line():
        try:
            with Ledger.open(store) as ledger, ledger.view() as view:
                exported = export(view, directory, leave_out=leave_out)
        except ExportRefused as error:
            raise click.ClickException(str(error)) from error
    print_json({"directory": shown(directory), **_told(exported)})


@click.command("import")
@click.argument("store", type=click.Path(file_okay=False, path_type=Path))
@_links_options
def import_command(store: Path, directory: Path, leave_out: bool) -> None:
    """Bring what an export holds into STORE, which nobody may serve.

    The companies must be there, and the partitions empty. Records and relations keep their ids, authors, provenance and
    evidence; revisions begin anew, and the time is that of the import. Everything is checked against the manifest, and
    tried out in memory, before anything is written. An import that was interrupted goes on when it is given again; one
    that is complete writes nothing. Prints one JSON object.

    \b
    Examples:
        relatum init ./again --company acme --subject ada --secret-file admin.secret
        relatum import ./again --links ./memory-as-text

    What has expired since the export stops the import, unless --leave-out-ineligible is given.

    \b
    Exit statuses:
        0  everything was brought back
        1  it does not go into this store, or the store can't be opened
        2  the directory holds no whole and unaltered export
    """
    from relatum.ledger import Ledger
    from relatum.ledger.text_export.importer import import_text

    with told_in_one_line(), Ledger.open(store) as ledger, progress_bar("importing") as progress, _usable(directory):
        imported = import_text(ledger, directory, leave_out=leave_out, progress=progress)
    print_json({"directory": shown(directory), **_told(imported)})


@contextmanager
def _usable(directory: Path) -> Iterator[None]:
    """Ends the command with status 2 where the text is no export, or can't be read."""
    from relatum.ledger.text_export.export_errors import TextUnusable

    try:
        yield
    except TextUnusable as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        raise Unusable(
            f"{error.strerror or 'the operating system refused it'}: {error.filename or directory}"
        ) from error


def _told(done: Exported | Imported) -> dict[str, object]:
    """The counts of the manifest, and beside them what it does not tell."""
    beside = msgspec.structs.asdict(done)
    return {"root": beside.pop("root"), **msgspec.structs.asdict(beside.pop("manifest")), **beside}
