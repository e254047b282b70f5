"""`python -m tests.doors.guided TARGET`: the same doors, bent by a fuzzer that watches which code each case reaches.

Needs atheris, which is no dependency of the project: `pip install atheris`. What follows `--` is for libFuzzer:

    python -m tests.doors.guided rows -- -max_total_time=600 -rss_limit_mb=2048

It ends at the first exception that should not be, and leaves the case in a file; otherwise when its time is over.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

Try = Callable[[bytes], None]
Target = Callable[[], tuple[Try, list[bytes]]]


def json_target() -> tuple[Try, list[bytes]]:
    """Bodies for the decoders of all routes."""
    from relatum.http.decoding import BodyDecoder
    from relatum.http.route_table import ROUTES
    from relatum.http.routes import Route
    from tests.doors.json_fuzzing import SAMPLE
    from tests.doors.mutating import as_json

    decoders = [BodyDecoder(route.takes) for route in ROUTES if isinstance(route, Route) and route.method == "POST"]

    def attempt(body: bytes) -> None:
        for decoder in decoders:
            decoder.decode(body)

    return attempt, [as_json(SAMPLE), *_examples()]


def _examples() -> list[bytes]:
    """The bodies of the examples in the document."""
    from relatum.http.openapi.document import document
    from relatum.http.route_table import ROUTES
    from tests.doors.mutating import as_json

    bodies = [
        operation["post"]["requestBody"]["content"]["application/json"].get("examples", {})
        for operation in document(ROUTES)["paths"].values()
        if "post" in operation
    ]
    return [as_json(example["value"]) for examples in bodies for example in examples.values()]


def rows_target() -> tuple[Try, list[bytes]]:
    """Rows of every table; the first byte says which row of the scene a case takes the place of."""
    from relatum.store import rows
    from tests.doors.row_fuzzing import TABLES, every_row, keys_of, try_body

    places = [(table, key) for table in TABLES for key in keys_of(table)[:5]]

    def attempt(case: bytes) -> None:
        table, key = places[case[0] % len(places)] if case else places[0]
        try_body(table, key, case[1:])

    samples = [
        bytes([number]) + rows.unseal(key, every_row()[key]) for number, (_, key) in enumerate(places) if number < 256
    ]
    return attempt, samples


def logs_target() -> tuple[Try, list[bytes]]:
    """Write-ahead logs."""
    from relatum.store.wal import scan_log

    def attempt(log: bytes) -> None:
        scan, batches = scan_log(log)
        assert batches == scan_log(log[: scan.intact_bytes])[1]

    return attempt, [bytes(16)]


TARGETS: dict[str, Target] = {"json": json_target, "rows": rows_target, "logs": logs_target}


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.doors.guided", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("options", nargs="*", help="of libFuzzer, after --")
    asked = parser.parse_args()
    atheris = _atheris()
    with atheris.instrument_imports(include=["relatum"]):
        attempt, samples = TARGETS[asked.target]()
    with tempfile.TemporaryDirectory(prefix="relatum-guided-") as corpus:
        for number, sample in enumerate(samples):
            (Path(corpus) / str(number)).write_bytes(sample)
        atheris.Setup([sys.argv[0], corpus, *asked.options], attempt)
        with suppress(SystemExit):
            atheris.Fuzz()


def _atheris() -> Any:
    try:
        return importlib.import_module("atheris")
    except ImportError:
        raise SystemExit("this needs atheris: pip install atheris") from None


if __name__ == "__main__":
    main()
