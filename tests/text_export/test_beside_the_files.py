"""What version control and desktops leave in an export is passed over and told; an export can live in git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from relatum.ledger import Ledger
from relatum.ledger.text_export.importer import import_text
from tests.support.desk import Desk
from tests.text_export.carrying import exported, files


def git(*arguments: str, within: Path) -> str:
    """What git says, by no settings but its own."""
    isolated = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin"}
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    ended = subprocess.run(
        ["git", *who, *arguments], cwd=within, env=isolated, check=True, capture_output=True, text=True, timeout=60
    )
    return ended.stdout


def test_an_export_is_kept_in_git_over_the_life_of_a_memory(desk: Desk, again: Ledger, tmp_path: Path) -> None:
    text, clone = tmp_path / "text", tmp_path / "clone"
    one = desk.create("one\r\nwith a line of Windows", title="夢")
    text.mkdir()
    git("init", within=text)
    (text / ".gitattributes").write_text("* -text\n")
    assert (".git", ".gitattributes") == exported(desk.ledger, text).passed_over
    git("add", "--all", within=text)
    git("commit", "-m", "first", within=text)
    git("rm", "-rq", "--", "*.txt", within=text)
    desk.revise(one, "one, and what came of it")
    second = exported(desk.ledger, text)
    git("add", "--all", within=text)
    [changed] = [line for line in git("status", "--porcelain", within=text).splitlines() if "manifest" not in line]
    assert changed.startswith("M ")
    assert changed.endswith(f"{one.record_id}.txt")
    git("commit", "-m", "second", within=text)
    git("clone", "-q", str(text), str(clone), within=tmp_path)
    assert (second.root, (".git", ".gitattributes")) == (
        (imported := import_text(again, clone)).root,
        imported.passed_over,
    )


def test_what_desktops_and_file_systems_leave_is_passed_over_at_every_level(
    desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    desk.create("one")
    text = tmp_path / "text"
    (text / "lost+found").mkdir(parents=True, mode=0o000)
    exported(desk.ledger, text)
    carried = {path for path in files(text) if "lost" not in path}
    [folder] = [path for path in text.iterdir() if len(path.name) == 64]
    left = ["lost+found"]
    for place in (text, folder):
        for name in (".DS_Store", "._partition.txt", "Thumbs.db", "thumbs.db", "desktop.ini", ".~lock.one.txt#"):
            (place / name).write_bytes(b"\0")
            left.append(str((place / name).relative_to(text)))
    (folder / ".directory").symlink_to("/nowhere")
    left.append(f"{folder.name}/.directory")
    imported = import_text(again, text)
    assert sorted(left) == sorted(imported.passed_over)
    assert carried == set(files(text)) - set(left)
