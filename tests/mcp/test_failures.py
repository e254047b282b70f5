"""Whatever fails is a result with a hint, and no secret is in it (mcp.md, to be shown 6; errors, transports)."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from tests.http.client import CREDENTIALS, Caller, issue
from tests.mcp.hosts import Host, host, stdio
from tests.support.matrix import first_of
from tests.support.polling import WAIT_SECONDS

pytestmark = pytest.mark.anyio


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("case", first_of(["unauthorized", "forbidden", "unreachable"]))  # the last waits 25 s
async def test_a_dead_server_a_wrong_secret_and_no_right_to_write_are_told(
    admin: Caller, url: str, nobody: str, tmp_path: Path, case: str
) -> None:
    reader = issue(admin, capabilities=["memory_read"])
    stranger = Caller(admin.api, f"rtm1_{'0' * 32}_{'A' * 43}", reader.scope)
    one, address = {"forbidden": (reader, url), "unauthorized": (stranger, url), "unreachable": (reader, nobody)}[case]
    with (tmp_path / "log").open("w+") as log:
        parameters = stdio(one, address, "project=p&agent=a" if one is stranger else "")
        async with Client(stdio_client(parameters, errlog=log), read_timeout_seconds=WAIT_SECONDS) as client:
            agent = Host(client)
            assert (await client.list_tools()).tools, "the tools are listed whatever the server says"
            refused = await agent.refused("memory_save", content="Nobody will keep this.")
            assert (case, True) == (refused["code"], bool(refused["hint"]))
            assert refused["retryable"] == (case == "unreachable")
            assert (await client.list_prompts()).prompts, "the process is alive"
        log.seek(0)
        assert one.secret not in str(refused) + log.read()


async def test_a_credential_revoked_in_mid_session_is_told_and_the_process_goes_on(admin: Caller, url: str) -> None:
    caller = issue(admin)
    async with host(caller, url, "stdio") as agent:
        await agent.call("memory_search", query="x")
        credential = caller.credential
        revoked = admin.post(f"{CREDENTIALS}/{credential['id']}/revoke", expected_revision=credential["revision"])
        assert 200 == revoked.status_code, revoked.text
        for _ in range(2):
            refused = await agent.refused("memory_search", query="x")
            assert "unauthorized" == refused["code"]
            assert caller.secret not in str(refused)


async def test_without_one_scope_every_tool_says_how_to_name_one(admin: Caller, url: str) -> None:
    scopes = [{"project_id": name, "agent_id": "scout", "visibility": "shared"} for name in ("one", "two")]
    caller = issue(admin, grants=scopes)
    async with host(caller, url) as agent:
        refused = await agent.refused("memory_search", query="x")
        assert "invalid_request" == refused["code"]
        assert "--project" in refused["message"]
    async with host(caller, url, query="project=two&agent=scout") as agent:
        await agent.call("memory_save", content="Known in two alone.")
    async with host(caller, url, "stdio", query="project=one&agent=scout") as agent:
        assert [] == (await agent.call("memory_search", query="known"))["memories"]


async def test_arguments_as_hosts_send_them(caller: Caller, url: str) -> None:
    async with host(caller, url) as agent:
        saved = await agent.call("memory_save", content="x", tags='["a"]', title=None, confidence="1")
        found = await agent.call("memory_get_batch", ids=f'["{saved["id"]}"]')
        assert ["a"] == found["memories"][0]["tags"]
        assert (await agent.say("memory_context", None)).ok
        refused = await agent.refused("memory_search", query="x", colour="blue")
        assert re.match("colour: no such member", refused["message"])


def test_the_command_ends_with_its_input_and_speaks_nothing_but_the_protocol(nobody: str) -> None:
    command = [sys.executable, "-m", "relatum", "mcp", "--url", nobody]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_SECONDS, check=False)
    assert (0, b"") == (ran.returncode, ran.stdout), ran.stderr
    for wrong in (["--tools", "everything"], ["--model", "one/two"]):
        ran = subprocess.run([*command, *wrong], capture_output=True, timeout=WAIT_SECONDS, check=False)
        assert (2, b"") == (ran.returncode, ran.stdout)


def test_without_the_package_the_command_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "absent.py").write_text(
        "import importlib.util as u, sys\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'mcp' else real(name, *rest)\n"
        "from relatum.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, str(tmp_path / "absent.py")]
    ran = subprocess.run([*command, "mcp"], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    assert (2, "") == (ran.returncode, ran.stdout)
    assert "Error: the package mcp is not installed: pip install 'relatum[mcp]'\n" == ran.stderr
    store = str(tmp_path / "store")
    serve = [*command, "serve", store, "--port", "0", "--mcp", "on"]
    subprocess.run([*command, "init", store, "--company", "acme", "--subject", "ada"], check=True, capture_output=True)
    ran = subprocess.run(serve, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    assert 2 == ran.returncode
    assert "mcp is on and the package mcp is not installed" in ran.stderr
