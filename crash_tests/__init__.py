"""Crash tests: parts that break the ledger, each in one way, and oracles that see whether a promise broke too.

What lives here: each part in a package of its own, and at the top what several of them share: the command and the
registry (`__main__`, `part_run`, `bug_campaign`, `part`, `parts`), the real server as a child (`server`,
`relatum_process`, `store_case`), clients at work, what they were told, and the oracle over HTTP; processes that take
tasks (`pool`, `forks`, `processes`), and file systems that are made and mounted (`kernel`, `disk`); `inspection` judges
stored rows, `bugs` holds planted bugs. What must not: a need for anything in the product but its failpoints, which only
a crash test can arm.

What always holds: the seed is printed first, every wait has a bound, a hang is a fault, and only processes started here
are killed. docs/crash-testing.md tells how to run it and what it has been seen to find.
"""
