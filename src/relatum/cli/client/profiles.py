"""Where the profiles lie."""

from __future__ import annotations

import os
from pathlib import Path


def config_path() -> Path:
    """`client.toml`, or the file that `RELATUM_CLIENT_CONFIG` names."""
    named = os.environ.get("RELATUM_CLIENT_CONFIG")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home and Path(home).is_absolute() else Path.home() / ".config") / "relatum" / "client.toml"


def names() -> list[str]:
    """The names of the profiles, for completion: none where the file can't be read."""
    from relatum.cli.client.profile_file import ProfileFile
    from relatum.cli.client.statuses import Ended

    try:
        return list(ProfileFile(config_path()).profiles)
    except (OSError, Ended):
        return []
