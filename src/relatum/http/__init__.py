"""The ledger over HTTP: the order of checks, strict JSON, the routes, their description, and the server.

`routes` declares what a route is and `endpoints/` has one declaration and one function for each. `endpoint` runs the
checks of a route in their order; `app` makes one ASGI application of the table, `server` serves it. `openapi/` writes
the document from the same declarations. Rules of the ledger live below: nothing here decides about a command.
"""
