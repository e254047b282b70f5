"""Full-text search: an index of what records say, derived from the ledger and never the truth.

    tokenizer.py  text to words, in any script
    index.py      the index of a store: opened, asked, and made again where it fails
    index_sync.py how it is kept in step with the record stream of each partition
    bm25.py       what is asked of it: what resembles a text, and which records have some words
    tables.py     where it lies: a SQLite database beside the engine's files

Deleting the database changes no answer: it is made again from the ledger when it is next asked.
"""
