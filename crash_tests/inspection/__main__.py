"""`python -m crash_tests.inspection DIRECTORY CLAIMS`: judge a store that nobody serves.

Prints the findings as JSON and exits 0, or prints the violation on standard error and exits 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from crash_tests.inspection.claims import read_claims
from crash_tests.inspection.inspect import inspect
from crash_tests.inspection.searching import check_search_index
from crash_tests.inspection.stored import read_store
from crash_tests.violation import Violation, require, require_same
from relatum.errors import StoreUnavailable
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.report import Report


def main(directory: Path, claims: Path) -> int:
    """The exit status."""
    try:
        report = verified(directory)  # first: a later opening may repair a torn log
        found = read_store(directory)
        findings = inspect(found, read_claims(claims))
        findings.searched = check_search_index(directory, found)
        require(report.clean, f"relatum verify has {report.findings_count} findings, {report.findings[:1]} the first")
        require_same("the position that relatum verify reports", findings.events, report.position)
    except Violation as violation:
        print(violation, file=sys.stderr)
        return 1
    print(msgspec.json.encode(findings).decode())
    return 0


def verified(directory: Path) -> Report:
    """What the product itself says of the store."""
    try:
        return verify_directory(directory)
    except StoreUnavailable as error:
        raise Violation(f"relatum verify can't read the store: {error}") from error


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
