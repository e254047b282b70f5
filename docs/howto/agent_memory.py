"""An agent host in small: it starts `relatum mcp`, saves two memories that contradict each other, and judges the pair.

Needs `pip install 'relatum[mcp]'`, a running server, and RELATUM_CLIENT_SECRET_FILE of a credential with one grant.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main() -> None:
    """Save, find the pair in the context, judge it, and see that it is gone."""
    command = shutil.which("relatum") or "relatum"
    passed_on = {name: value for name, value in os.environ.items() if name.startswith("RELATUM_CLIENT_")}
    async with Client(StdioServerParameters(command=command, args=["mcp"], env=passed_on)) as host:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await host.call_tool(tool, arguments)
            answer: dict[str, Any] = result.structured_content
            if not answer["ok"]:
                raise SystemExit(f"{tool}: {answer['code']}: {answer['message']} {answer.get('hint', '')}")
            return answer

        await call("memory_save", content="Staging is deployed by app-staging.")
        await call("memory_save", content="Staging is deployed by app-production.")

        context = await call("memory_context", query="how is staging deployed", judgments=5)
        for pair in context["pendingJudgments"]:
            print(f"to be judged: {pair['sourceSnippet']} / {pair['targetSnippet']}")
            verdict = {"judgmentId": pair["judgmentId"], "relation": "supersedes", "reason": "it was moved"}
            await call("memory_judge_batch", judgments=[verdict])

        context = await call("memory_context", query="how is staging deployed", judgments=5)
        print(f"left to be judged: {context['pendingJudgmentsTotal']}")
        print(context["block"])


if __name__ == "__main__":
    asyncio.run(main())
