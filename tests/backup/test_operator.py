"""What a running server does for its operator, and for nobody else."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from signal import SIGKILL
from subprocess import Popen

import pytest

from relatum.store.backup import create, manifest
from relatum.store.backup.backup_errors import BackupFailed, BackupUnusable
from relatum.store.backup.image_contents import Source
from relatum.store.backup.manifest import MANIFEST_NAME
from relatum.store.backup.operator_paths import COMPACT_PATH, IMAGE_PATH
from relatum.store.backup.remote import remote_source
from relatum.store.backup.restore import restore
from relatum.store.layout import IMAGES_NAME
from tests.backup.operated import TOKEN, command, done, make_large, operated, refused, token_file
from tests.cli.program import COMMAND, environment, run
from tests.http.client import BUSY, UNAUTHORIZED, Api, Caller, issue, refusal
from tests.http.serving import Server, initialise
from tests.http.wire import Wire, head
from tests.support.matrix import first_of
from tests.support.polling import WAIT_SECONDS, until

PATHS = (IMAGE_PATH, COMPACT_PATH)
OPERATOR = {"authorization": f"Bearer {TOKEN}"}
ATTEMPTS_MAX = 10


def ask(api: Api, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """How a request is refused. These routes are no part of the document, so nothing is held to it."""
    return refusal(api._client.post(path, headers=headers))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Caller]]:
    """A server with an operator, and the administrator of a company."""
    with operated(tmp_path_factory.mktemp("served") / "store") as (server, secret), Api(server.url) as api:
        yield server, Caller(api, secret)


def test_without_a_token_there_are_no_such_routes(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    token = token_file(tmp_path)
    with Server(tmp_path / "store") as server, Api(server.url) as api:
        for path in PATHS:
            assert (404, "not_found") == ask(api, path) == ask(api, path, OPERATOR) == ask(api, "/operator/v1/other")
        told = refused(run("backup", server.url, tmp_path / "backup", "--operator-token-file", token))
        assert "serves nothing to operators" in told
        assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize(("name", "arguments"), [("backup", ["backup"]), ("compact", [])])
def test_the_token_is_handed_to_no_proxy(
    served: tuple[Server, Caller], tmp_path: Path, name: str, arguments: list[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        host, port = proxy.getsockname()
        address = f"http://{host}:{port}"
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
        given: list[str | Path] = ["--operator-token-file", token_file(tmp_path)]
        given = [*(tmp_path / argument for argument in arguments), *given]
        done(run(name, served[0].url, *given, env=environment(**dict.fromkeys(names, address), NO_PROXY="")))
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has come
            proxy.accept()


def test_nobody_but_the_operator_is_let_in(served: tuple[Server, Caller], tmp_path: Path) -> None:
    server, admin = served
    company = issue(admin)
    for path in PATHS:
        assert UNAUTHORIZED == ask(admin.api, path)
        for token in (TOKEN[:-1], TOKEN + "x", admin.secret, company.secret):
            assert UNAUTHORIZED == ask(admin.api, path, {"authorization": f"Bearer {token}"})
        assert (405, "method_not_allowed") == refusal(admin.api._client.get(path, headers=OPERATOR))
    told = refused(run("backup", server.url, tmp_path / "backup", "--operator-token-file", other(tmp_path)))
    assert "does not take this operator's token" in told
    assert not (tmp_path / "backup").exists()


def test_the_operator_s_token_is_no_credential(served: tuple[Server, Caller]) -> None:
    assert UNAUTHORIZED == refusal(served[1].api.send("GET", "/api/v1/identity", headers=OPERATOR))


def other(directory: Path) -> Path:
    """A file with a token that is none."""
    path = directory / "other.token"
    path.write_text("x" * 40)
    return path


def test_the_routes_are_no_part_of_the_document(served: tuple[Server, Caller]) -> None:
    assert "/operator/" not in served[1].api.send("GET", "/openapi.json").text


def test_a_backup_of_a_served_store_and_one_of_the_store_at_rest_have_the_same_rows(tmp_path: Path) -> None:
    with operated(tmp_path / "store") as (server, secret), Api(server.url) as api:
        issue(Caller(api, secret)).relate()
        online = done(command(server, "backup", tmp_path / "online"))
        told = refused(run("backup", tmp_path / "store", tmp_path / "offline"))
        assert "directory in use" in told
        assert "relatum backup URL DESTINATION" in told
        assert 0 == server.stop()
    offline = done(run("backup", tmp_path / "store", tmp_path / "offline"))
    for member in ("position", "digest", "rows"):
        assert online[member] == offline[member]
    assert manifest.read(tmp_path / "online").families == manifest.read(tmp_path / "offline").families


def test_a_place_that_is_not_empty_is_refused_and_left_alone(served: tuple[Server, Caller], tmp_path: Path) -> None:
    (tmp_path / "letter").touch()
    assert "not empty" in refused(command(served[0], "backup", tmp_path))
    assert ["letter"] == [path.name for path in tmp_path.iterdir()]


def test_a_command_for_a_server_needs_a_token_and_a_server(tmp_path: Path) -> None:
    ran = run("backup", "http://127.0.0.1:1", tmp_path / "backup")
    assert 2 == ran.returncode
    assert "--operator-token-file must be given" in ran.stderr
    told = refused(run("backup", "http://127.0.0.1:1", tmp_path / "backup", "--operator-token-file", other(tmp_path)))
    assert "can't be reached" in told
    assert "No such file" in refused(
        run("compact", "http://127.0.0.1:1", "--operator-token-file", tmp_path / "missing")
    )


@pytest.mark.parametrize("url", first_of(["http://[half", "http://127.0.0.1:99999", "HTTP://"]))
def test_an_address_that_is_none_is_told_in_one_line(tmp_path: Path, url: str) -> None:
    for arguments in (("backup", url, tmp_path / "backup"), ("compact", url)):
        assert "can't be reached" in refused(run(*arguments, "--operator-token-file", other(tmp_path)))
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("token", first_of(["two words", "", "é" * 40]))
def test_a_file_without_a_token_is_told_before_any_server_is_asked(tmp_path: Path, token: str) -> None:
    path = token_file(tmp_path, token)
    told = refused(run("backup", "http://127.0.0.1:1", tmp_path / "backup", "--operator-token-file", path))
    assert "must hold one token" in told
    assert token == "" or token not in told


def test_the_token_file_can_be_named_by_the_environment(served: tuple[Server, Caller], tmp_path: Path) -> None:
    token = served[0].log_path.parent / "operator.token"
    done(run("backup", served[0].url, tmp_path / "backup", env=environment(RELATUM_OPERATOR_TOKEN_FILE=str(token))))


# A backup on its way


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store too large for the buffers of a connection."""
    directory = tmp_path_factory.mktemp("large") / "store"
    initialise(directory)
    make_large(directory)
    return directory


@pytest.fixture
def large(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "store")


def begun(server: Server) -> Wire:
    """A connection on which an image has begun to arrive, of which nobody takes more."""
    wire = Wire(server.port)
    wire.send(head("POST", IMAGE_PATH, f"Authorization: Bearer {TOKEN}", "Content-Length: 0"))
    wire.begin()
    return wire


def images_of(store: Path) -> list[Path]:
    try:
        return list((store / IMAGES_NAME).iterdir())
    except FileNotFoundError:  # as it is where there are none, and may become meanwhile
        return []


def test_one_backup_at_a_time_and_everybody_else_is_served_meanwhile(large: Path, tmp_path: Path) -> None:
    with operated(large) as (server, _), Api(server.url) as api:
        with begun(server):
            assert 1 == len(images_of(large))
            for path in PATHS:
                assert BUSY == ask(api, path, OPERATOR)
            assert 200 == api.send("GET", "/ready").status_code
        until(lambda: not images_of(large), "the end of the image of a client that has gone")
        done(command(server, "backup", tmp_path / "backup"))


def test_a_server_that_is_told_to_stop_does_not_wait_for_a_backup(large: Path) -> None:
    with operated(large, "--drain-timeout-seconds", "600") as (server, _), begun(server):
        assert 0 == server.stop()
        assert not images_of(large)


def test_a_server_that_is_killed_leaves_no_backup_and_its_next_start_no_image(large: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with operated(large) as (server, _):

        def killing(source: Source) -> Source:
            first = next(source.chunks)
            server.process.kill()
            server.process.wait(WAIT_SECONDS)
            return Source(source.contents, (one for some in ([first], source.chunks) for one in some))

        with pytest.raises(BackupFailed, match="ended before"), remote_source(server.url, TOKEN) as source:
            create.copy(killing(source), backup)
    assert 1 == len(images_of(large))
    attempts: list[Callable[[], object]] = [
        lambda: manifest.read(backup),
        lambda: restore(backup, tmp_path / "restored"),
    ]
    for attempt in attempts:
        with pytest.raises(BackupUnusable, match="no backup"):
            attempt()
    with operated(large):
        assert not images_of(large)


@pytest.mark.slow
def test_a_client_that_is_killed_leaves_no_backup_and_the_server_no_image(large: Path, tmp_path: Path) -> None:
    with operated(large) as (server, _):
        backup = next(killed_in_the_midst(server, tmp_path))
        until(lambda: not images_of(large), "the end of its image")
        with pytest.raises(BackupUnusable, match="no backup"):
            restore(backup, tmp_path / "restored")


def killed_in_the_midst(server: Server, directory: Path) -> Iterator[Path]:
    """Where a backup was to be whose client was killed while files arrived. Some may be there before we look."""
    options = ("--operator-token-file", str(directory / "operator.token"))
    for number in range(ATTEMPTS_MAX):
        backup = directory / f"backup-{number}"
        engine = backup / "store" / "engine"
        with Popen([*COMMAND, "backup", server.url, str(backup), *options], env=environment()) as client:
            until(partial(has_files, engine), "the first file")
            client.send_signal(SIGKILL)
        if not (backup / MANIFEST_NAME).exists():
            assert -SIGKILL == client.returncode
            yield backup


def has_files(engine: Path) -> bool:
    return engine.is_dir() and any(engine.iterdir())


@pytest.mark.slow
def test_a_compaction_of_a_served_store_is_cut_short_by_a_stop_and_nothing_is_lost(large: Path, tmp_path: Path) -> None:
    with operated(large, "--drain-timeout-seconds", "600") as (server, _):
        words = [*COMMAND, "compact", server.url, "--operator-token-file", str(tmp_path / "operator.token")]
        with Wire(server.port) as wire, Popen(words, env=environment()) as client:
            wire.send(head("POST", COMPACT_PATH, f"Authorization: Bearer {TOKEN}", "Content-Length: 0"))
            client.wait(WAIT_SECONDS)  # which was refused, or comes second: the first compaction has at least begun
            assert 0 == server.stop()
    with operated(large) as (server, _):
        assert done(command(server, "compact"))["bytes_after"] > 10_000_000
