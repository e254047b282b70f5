"""What the service answers, one module a part: the structs that a server encodes and a client decodes.

Within version 1 of the contract an answer may gain members and an enumeration in it may gain values. So what is decoded
here passes over members that it doesn't know, and takes any text for an enumeration. What is stored or asked as well is
a closed struct of its own elsewhere in the core, below the one here.
"""
