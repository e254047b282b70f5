"""`python -m crash_tests.inspection DIRECTORY CLAIMS`: judge a store that nobody serves.

Prints the findings as JSON and exits 0, or prints the violation on standard error and exits 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from crash_tests.inspection.claims import read_claims
from crash_tests.inspection.inspect import inspect
from crash_tests.inspection.stored import read_store
from crash_tests.violation import Violation


def main(directory: Path, claims: Path) -> int:
    """The exit status."""
    try:
        findings = inspect(read_store(directory), read_claims(claims))
    except Violation as violation:
        print(violation, file=sys.stderr)
        return 1
    print(msgspec.json.encode(findings).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
