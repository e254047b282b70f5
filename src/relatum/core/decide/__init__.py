"""Decisions: one module per command family, `decide(state, command, stamp) -> Decision | Refusal`.

Pure. The checks stand in the order of the contract, so that the first failing one answers.
"""
