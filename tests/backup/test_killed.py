"""A server that is killed while a backup is made of it: its store is served again, and nothing passes for a backup."""

from __future__ import annotations

from pathlib import Path
from signal import SIGKILL

from crash_tests.server import STOP_SECONDS_MAX, Server
from relatum.store.backup.restore import restore
from relatum.store.layout import IMAGES_NAME
from tests.backup.operated import done, refused, token_file
from tests.backup.scene import make_store, rows_in
from tests.cli.program import run


def test_a_server_that_dies_while_it_links_an_image_leaves_its_store_as_it_was(tmp_path: Path) -> None:
    store, destination, token = tmp_path / "store", tmp_path / "backup", token_file(tmp_path)
    rows = make_store(store)
    options = ("--operator-token-file", str(token), "--sweep-interval-minutes", "0")

    def backup(server: Server) -> tuple[str | Path, ...]:
        return "backup", f"http://127.0.0.1:{server.port}", destination, *options[:2]

    with Server(store, tmp_path / "log", *options, launch=("--failpoint", "image.linked")) as server:
        server.wait_until_ready()
        assert "ended before it had sent everything" in refused(run(*backup(server)))
        assert -SIGKILL == server.wait(STOP_SECONDS_MAX)
    assert (store / IMAGES_NAME).exists()
    assert not destination.exists()
    assert "no backup" in refused(run("restore", destination, tmp_path / "restored"))
    with Server(store, tmp_path / "log", *options) as server:
        server.wait_until_ready()
        assert not (store / IMAGES_NAME).exists()
        done(run(*backup(server)))
    restore(destination, tmp_path / "restored")
    assert rows == rows_in(store) == rows_in(tmp_path / "restored")
