"""System calls of the real ledger: recorded and replayed up to each of them, and made to fail one by one.

Two parts:

    op-log      a recorder (recorder.c) is preloaded into a process that works on a store, and writes down each call
                that changes files or makes them durable (`records`, `life_recorder`). A model of a disk (`disk`)
                follows the calls; at each of them a crash may leave many things (`crash_outcomes`), which are put into
                files, opened, and compared with all that was committed (`state_checks`, `reference`). `states` goes
                through them.
    syscalls    an injector (injector.c) is preloaded into a process that forks children, and lets one call of a child
                fail or lie (`faults`) while it works (`workloads`, `session`, `questions`). Afterwards another child
                judges the store (`recovery_checks`). `sweep` goes through the calls.

Both have worker processes (`crash_tests.pool`) and C sources that are compiled when they are needed (`native`).
"""
