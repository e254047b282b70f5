"""The oracle over stored rows: a store that nobody serves, read with relatum's own readers and judged row by row.

`stored` reads every row once; `chains`, `journals` and `checkpoints` judge what is counted and chained; `indexes`
derives every index naively from the records and relations it is an index of; `rederived` derives all rows again from
the events. The last two look alike and are not: `rederived` runs the product's projection and would agree with a fault
of it, `indexes` would not.

Run as a program, so that a store that can't be opened without hanging costs a process and not the campaign:

    python -m crash_tests.inspection DIRECTORY CLAIMS
"""
