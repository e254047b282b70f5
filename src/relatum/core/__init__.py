"""The rules of the ledger: what a command means, what may be accepted, what is eligible, and every digest.

Pure: a function here answers from its arguments alone. No files, network, clock, randomness or threads; the import
contract "the core is pure" holds it to that.
"""
