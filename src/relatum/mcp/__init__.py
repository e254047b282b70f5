"""The ledger for agents (mcp.md): one set of MCP tools over `relatum.client`, on standard streams and at `/mcp`.

Here: the table of tools with their schemas, how arguments are read and answers made to fit a budget, resources,
prompts, and the two transports. Not here: anything that opens a store or holds authority. A tool call is the requests
it maps to, under the caller's credential.

Only `protocol.py`, `endpoint.py` and `standard_streams.py` import the package `mcp`, which is an extra.
"""
