"""The part `kills`."""

from __future__ import annotations

from argparse import ArgumentParser

from crash_tests.kills.campaign import Campaign
from crash_tests.kills.controls import CONTROLS
from crash_tests.kills.plan import MOMENTS
from crash_tests.kills.store_rounds import Rig
from crash_tests.part import Part, Run, Summary
from crash_tests.store_case import NOTICED
from relatum.limits import SLOTS_DEFAULT


def add_options(parser: ArgumentParser) -> None:
    """What a campaign can be told besides."""
    parser.add_argument("--slots", type=int, default=SLOTS_DEFAULT, help="the server's slots (default %(default)s)")
    parser.add_argument("--clients", type=int, default=4, help="clients at work at once (default %(default)s)")
    parser.add_argument(
        "--consumers",
        type=int,
        default=6,
        choices=range(2, 17),
        metavar="N",
        help="consumers at once (default %(default)s)",
    )
    parser.add_argument(
        "--aim", choices=sorted(MOMENTS), default="everything", help="what the kills are to meet (default %(default)s)"
    )


def run(given: Run) -> Summary:
    """A campaign of so many kills. Its stores are what is numbered: the first case is the number of a store."""
    options = given.options
    rig = Rig(
        directory=given.directory,
        slots=options.slots,
        clients=options.clients,
        consumers=options.consumers,
        control=given.control,
        launch=() if given.bug is None else ("--bug", given.bug),
    )
    campaign = Campaign(rig, given.seed, options.aim, given.tell, given.first_case)
    summary = campaign.run(given.cases, given.seconds_max)
    return Summary(summary.kills, str(summary))


PART = Part(
    name="kills",
    help="kill the real server at random moments and see whether anything promised was lost",
    unit="kills",
    cases_ci=15,
    cases_release=5_000,
    run=run,
    controls=tuple(sorted(CONTROLS)),
    bugs=NOTICED,
    add_options=add_options,
)
