"""The OpenAPI document: made from the table of routes and the types that decode requests and encode answers.

`python -m relatum.http.openapi` records the examples anew and writes the document; a test compares both.
"""
