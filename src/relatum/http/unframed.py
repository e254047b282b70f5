"""Answers of unknown length to clients of HTTP/1.0, which know no chunks: they end where the connection does.

It stands in for `send` of uvicorn's cycle, which sends chunks to everybody (RFC 9112, 6.1 and 6.3).
"""

from __future__ import annotations

from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle


async def send_unframed(cycle: RequestResponseCycle, message: Message) -> None:
    """One message of the application, written as it is; the last one closes the connection."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    if message["type"] == "http.response.start":
        cycle.response_started = True
        headers = (*cycle.default_headers, *message["headers"], (b"connection", b"close"))
        head = (STATUS_LINE[message["status"]], *(b"%b: %b\r\n" % header for header in headers), b"\r\n")
        cycle.transport.write(b"".join(head))
        return
    if cycle.scope["method"] != "HEAD":
        cycle.transport.write(message.get("body", b""))
    if not message.get("more_body", False):
        cycle.response_complete = True
        cycle.message_event.set()
        cycle.transport.close()
        cycle.on_response()
