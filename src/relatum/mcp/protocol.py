"""The ledger as a server of the protocol: listing, calling, resources and prompts, whatever the transport (mcp.md).

Always holds: what a tool can't do is a result; errors of the protocol are left for an unknown tool, resource or prompt
and for what is no request. The text block of a result is its structure, as compact JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from relatum import __version__
from relatum.mcp import prompts, resources
from relatum.mcp.budget import compact
from relatum.mcp.caller import Caller
from relatum.mcp.guide import INSTRUCTIONS
from relatum.mcp.refusals import ToolRefused
from relatum.mcp.tool import Tool

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


def server(caller_of: Callable[[Context], Caller]) -> Server[Any]:
    """A server for the callers that `caller_of` tells by their requests."""
    handlers = _Handlers(caller_of)
    return Server(
        "relatum",
        version=__version__,
        title="relatum",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_no_headers,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def _no_headers(_name: str) -> Mapping[str, Any] | None:
    """No argument of any tool travels as a header too, so that no schema is looked at for it."""
    return None


class _Handlers:
    """What the server does for each method. One for all callers: it keeps nothing."""

    def __init__(self, caller_of: Callable[[Context], Caller]) -> None:
        self._caller_of = caller_of

    async def list_tools(self, context: Context, _page: Page) -> types.ListToolsResult:
        caller = self._caller_of(context)
        offer = caller.offer
        listed = offer.listed(await caller.capabilities())
        return types.ListToolsResult(tools=[_described(one, text_only=offer.text_only) for one in listed])

    async def call_tool(self, context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        caller = self._caller_of(context)
        tool = caller.offer.tool(asked.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "no such tool; tools/list tells those that there are")
        answer = await caller.run(tool, asked.arguments)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=compact(answer))],
            structured_content=None if caller.offer.text_only else answer,
            is_error=not answer["ok"],
        )

    async def list_resources(self, context: Context, _page: Page) -> types.ListResourcesResult:
        found = await resources.listed(self._caller_of(context))
        return types.ListResourcesResult(resources=[types.Resource(**one._asdict()) for one in found])

    async def list_resource_templates(self, _context: Context, _page: Page) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(uri_template=uri, name=name, title=title, mime_type=resources.JSON)
            for uri, name, title in resources.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, context: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(asked.uri)
        try:
            found = await resources.read(self._caller_of(context), uri)
        except ToolRefused as refused:
            raise MCPError(types.INTERNAL_ERROR, f"{refused.code}: {refused.message}") from None
        if found is None:
            raise MCPError(types.INVALID_PARAMS, "no such resource")
        media_type, text = found
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=media_type, text=text)])

    async def list_prompts(self, _context: Context, _page: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    title=one.title,
                    description=one.about,
                    arguments=[
                        types.PromptArgument(name=name, description=about, required=True)
                        for name, about in one.takes.items()
                    ],
                )
                for one in prompts.PROMPTS.values()
            ]
        )

    async def get_prompt(self, context: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = prompts.PROMPTS.get(asked.name)
        given = asked.arguments or {}
        if prompt is None or given.keys() != prompt.takes.keys():
            raise MCPError(types.INVALID_PARAMS, "no such prompt, or not with these arguments")
        text = await prompt.make(self._caller_of(context), given)
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=prompt.about, messages=[types.PromptMessage(role="user", content=content)]
        )


def _described(tool: Tool, *, text_only: bool) -> types.Tool:
    hints = tool.hints()
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.input_schema(),
        output_schema=None if text_only else tool.output_schema(),
        annotations=types.ToolAnnotations(title=tool.title, **hints),
    )
