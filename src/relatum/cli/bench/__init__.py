"""Benchmarks: the ledger beside its floors and its peers, in one run.

Here: parts that measure, what they measure against, the load they put on, and how it is told. Not here: anything the
ledger needs. A *floor* is the least that a kind of work can cost: the bare engine with the same rows, the bare web
stack with the same bodies.

Always holds: what is compared was measured in turn within one run, and a figure that was not measured is not shown.
"""
