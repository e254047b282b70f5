"""A process on the real ledger, without HTTP, that tells a pipe everything it does; and the oracle for what it leaves.

For harnesses that put the store on a file system, or system calls, of their own making.

    python -m crash_tests.embedded DIRECTORY --seed S --commands N [--bug NAME] [--fd N]

opens the ledger in DIRECTORY, or makes one, and works on it with commands of every family, singly and in batches, from
several threads. To descriptor N (1 by default) it writes one JSON message a line (`messages.py`): each command before
it is submitted, each outcome before the thread goes on, and what readers are shown. A line that is whole in the pipe
has been told; what it acknowledges must outlive whatever happens to the process from then on. Run it again on the same
directory with another seed to go on with what is stored there.

The same without a new interpreter, in a process that has never opened a store and forks:

    live(directory, Plan(seed=…, commands=…), Reporter(descriptor))

Afterwards, in a process of its own, since a store may hang whoever opens it:

    acknowledged = Acknowledged.read(lines_of_the_first_life, …, lines_of_the_last)
    checked = check(directory, acknowledged, plan)

`check` opens the store, judges every row, settles every command in doubt by sending it again, replays all that was
acknowledged, judges every row again, and raises `Violation` at the first thing that does not hold. Where the state was
fixed while the process went on (a snapshot), `Acknowledged.read_split(before, during)` takes the lines that were there
before and those that came until it was surely fixed: what the latter acknowledge may be there or not.
"""

from crash_tests.embedded.acknowledged import Acknowledged
from crash_tests.embedded.check import Checked, check
from crash_tests.embedded.life import live
from crash_tests.embedded.messages import Reporter
from crash_tests.embedded.plan import Plan

__all__ = ["Acknowledged", "Checked", "Plan", "Reporter", "check", "live"]
