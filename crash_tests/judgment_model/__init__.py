"""Saves, verdicts, sweeps, standings and links, naively: a book written from the contract alone, and its rules.

    book            what judgments have left in a partition, as a child would keep it
    rules           which judgments are refused for what, and what the others write into the book
    record_rules    the same of records and links
    promoting       proposals of a miner: the rules, and the events that come of them
    hearing         an event of a ledger, held against the rules and entered
    comparing       what a ledger answers, held against the book

Nothing here opens a ledger or sends anything: whoever does brings events and views.
"""
