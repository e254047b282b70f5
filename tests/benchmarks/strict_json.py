"""How the cost of the strict JSON check grows with hostile input: `python -m tests.benchmarks.strict_json`.

Prints for each shape the CPU time of 64 KiB and of 1 MiB, taken in turn, and their ratio: 16 is linear.
"""

from __future__ import annotations

from statistics import median
from time import process_time

from tests.http.test_strict_json import HOSTILE, MIB, refusal_of

ROUNDS = 5


def seconds(body: bytes) -> float:
    """CPU seconds of one check."""
    started = process_time()
    refusal_of(body)
    return process_time() - started


def main() -> None:
    """Measures every shape."""
    print(f"{'shape':34} {'64 KiB ms':>10} {'1 MiB ms':>10} {'ratio':>7}")  # noqa: T201
    for shape, make in HOSTILE.items():
        small, large = make(MIB // 16), make(MIB)
        pairs = [(seconds(small), seconds(large)) for _ in range(ROUNDS)]
        low, high = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
        print(f"{shape:34} {low * 1e3:10.3f} {high * 1e3:10.3f} {high / max(low, 1e-6):7.1f}")  # noqa: T201


if __name__ == "__main__":
    main()
