"""Crash tests: the real server, killed at random moments, judged from outside.

What lives here: a workload over HTTP, the killing, and an oracle that compares what clients were told with what is
there afterwards, over HTTP and in the stored rows. What must not: a hook inside the product, or a need for one.

What always holds: the seed is printed first, every wait has a bound, a hang is a fault, and only processes started here
are killed. docs/crash-testing.md tells how to run it and what it has been seen to find.
"""
