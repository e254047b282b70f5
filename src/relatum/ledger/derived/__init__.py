"""The derived layer: mined edges, many and recomputable, apart from everything that was authored (views.md).

    edges.py    mined edges of all partitions, in a SQLite database beside the engine's files
    repair.py   which of them dangle, and what becomes of those

Nothing here is a command, has a receipt, or enters a journal. Dropping the database changes no authored answer.
"""
