"""Prompts that a user picks in a host: begin, go through what waits, keep what was found (mcp.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from relatum.mcp.budget import compact
from relatum.mcp.caller import Caller
from relatum.mcp.guide import REVIEW_QUEUE, SAVE_SESSION, START_WORK
from relatum.mcp.refusals import ToolRefused
from relatum.mcp.tools.context import CONTEXT, due_records, pending_judgments

QUEUE_MAX: Final = 10


class Prompt(NamedTuple):
    """A prompt; `takes` are its arguments, all of them required."""

    name: str
    title: str
    about: str
    takes: Mapping[str, str]
    make: Callable[[Caller, Mapping[str, str]], Awaitable[str]]


async def _start_work(caller: Caller, given: Mapping[str, str]) -> str:
    answer = await caller.run(CONTEXT, {"query": given["task"]})
    told = answer.pop("block", "")
    return f"{START_WORK}\n\nThe task: {given['task']}\n\n{told}\n\n{compact(answer)}"


async def _review_queue(caller: Caller, _given: Mapping[str, str]) -> str:
    call = caller.call("review_queue", {})
    try:
        pending, pending_total = await pending_judgments(call, QUEUE_MAX)
        due, due_total = await due_records(call, QUEUE_MAX)
    except ToolRefused as refused:
        return f"The memory could not be asked: {compact(refused.answer())}"
    queue = {
        "pendingJudgments": pending,
        "pendingJudgmentsTotal": pending_total,
        "needsReview": due,
        "needsReviewTotal": due_total,
    }
    return f"{REVIEW_QUEUE}\n\n{compact(queue)}"


async def _save_session(_caller: Caller, _given: Mapping[str, str]) -> str:
    return SAVE_SESSION


PROMPTS: Final[Mapping[str, Prompt]] = {
    one.name: one
    for one in (
        Prompt(
            "start_work",
            "Begin a task",
            "What is known for a task, ready to read",
            {"task": "What is to be done, in your words"},
            _start_work,
        ),
        Prompt(
            "review_queue", "Go through what waits", "Pairs to be judged and memories to be checked", {}, _review_queue
        ),
        Prompt("save_session", "Keep what was found", "How to keep what this conversation found", {}, _save_session),
    )
}
