"""`relatum quickstart`: a store with real data, served for real, and a tour of what the ledger does.

corpus     the PEPs as commands of the ledger
child      the server, as a process of its own
api        a caller of the server: one credential and one scope
keys       the credentials of the tour
load       the corpus over HTTP, in batches
tour       the steps of the tour
paste      lines for the user's own shell
screen     how it is told
command    all of them in order

Everything goes over HTTP as a user's client would; nothing here reads or writes the store of a running server.
"""
