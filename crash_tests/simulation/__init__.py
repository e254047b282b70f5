"""The whole ledger in one thread: its real core, writer and reads on a faulty disk in memory, in virtual time.

A case draws everything from one seed: what clients ask, who runs next, how long anything takes, where the machine dies
and what its disk then still has. So a case that fails is run again by its seed and number, instruction for instruction.
"""
