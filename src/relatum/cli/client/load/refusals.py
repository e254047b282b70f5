"""A line that is refused before it is sent."""

from __future__ import annotations


class LineRefused(Exception):
    """Why, under the code and status that a server would have answered."""

    def __init__(self, message: str, *, code: str = "invalid_request", status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
