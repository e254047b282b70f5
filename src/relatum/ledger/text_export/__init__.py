"""Memory as text: what a store holds, written as one small file per record, and read back into another store.

Here: the form of the files, what can be carried over and what not, the commands that bring it back. Not here: any
knowledge of rows or of HTTP. What always holds: what is written can be read back to the same bytes, and nothing is left
out without being counted (docs/text-export.md).
"""
