"""Holds answers to the document that the server itself serves: status, headers, and every member of the body."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import httpx
import jsonschema_rs

PROBLEM = {"$ref": "#/components/schemas/ErrorAnswer"}


class Described:
    """An OpenAPI document as a judge of answers."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._patterns = {
            template: re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))) for template in document["paths"]
        }
        self._validator = cache(self._made_validator)

    def judge(self, response: httpx.Response) -> None:
        """Fail unless the document says that this answer may be given to this request."""
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        if response.status_code == 503:
            assert response.headers["retry-after"] == "1"
        declared = self._declared(response)
        for name in declared.get("headers", {}):
            assert name in response.headers, f"{name} is missing"
        if response.request.method == "HEAD":
            assert response.content == b""
        elif "content" in declared:
            media = response.headers["content-type"].partition(";")[0]
            schema = declared["content"][media]["schema"]
            value = response.json() if media.endswith("json") else response.text
            self._validator(json.dumps(schema)).validate(value)

    def _declared(self, response: httpx.Response) -> dict[str, Any]:
        path, method = response.request.url.path, response.request.method.lower().replace("head", "get")
        found = [template for template, pattern in self._patterns.items() if pattern.fullmatch(path)]
        operations = self.document["paths"][min(found, key=lambda one: one.count("{"))] if found else {}
        if method not in operations:
            assert response.status_code == (405 if found else 404)
            return {
                "content": {
                    "application/json": {"schema": PROBLEM},
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
                }
            }
        responses: dict[str, dict[str, Any]] = operations[method]["responses"]
        assert str(response.status_code) in responses, f"{method} {path} does not declare {response.status_code}"
        declared = responses[str(response.status_code)]
        if "$ref" in declared:
            shared: dict[str, dict[str, Any]] = self.document["components"]["responses"]
            return shared[declared["$ref"].rpartition("/")[2]]
        return declared

    def _made_validator(self, schema: str) -> jsonschema_rs.Draft202012Validator:
        whole = {**json.loads(schema), "components": self.document["components"]}
        return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
