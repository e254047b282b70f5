"""The command line as a client of a server: verbs for people and scripts (docs/command-line.md).

Here: what each verb takes, which request it makes of it, and how an answer is shown. Not here: how a request is sent,
repeated and refused, which is `relatum.client`'s, and what is right, which is the server's: a verb adds no rule.

Always holds: standard output carries the result alone and stays empty where a command fails; a secret is in no output;
nothing is imported for a help text but click and the names of the contract.
"""
