"""A scope of the real server that is tended: saves, judgments, links and standings, and what came of each.

    requests    what is asked for, drawn by dice, and what of an answer must last
    tended      what was asked for on one store, and what was answered
    tender      the thread that asks while others work
    witness     a restarted server, held against it

Nobody else works in that scope, so the naive model of the other partitions need not know of judgments.
"""
