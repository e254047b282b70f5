"""`python -m relatum`: the same as the command `relatum`."""

from __future__ import annotations

from relatum.cli import main

if __name__ == "__main__":
    main(prog_name="relatum")
