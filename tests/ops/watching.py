"""What an operator sees of a server, and the commands that a failing disk meets."""

from __future__ import annotations

from relatum.entropy import SystemEntropy
from tests.http.client import RECEIPTS, RECORDS, Api, Caller, Json, fresh

POISONED = (503, {"contract_version": 1, "status": "poisoned"})
READY = (200, {"contract_version": 1, "status": "ready"})
UNAVAILABLE = (503, "storage_unavailable")


def readiness(api: Api) -> tuple[int, Json]:
    """What `/ready` answers."""
    answer = api.send("GET", "/ready")
    return answer.status_code, answer.json()


def metric(api: Api, name: str) -> float:
    """One value of `/metrics`."""
    lines = api.send("GET", "/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return float(line.split()[1])


class Pen:
    """Writes large records until the disk takes no more. `receipts` has what was acknowledged, by key.

    `caller` is set anew when the server is another one.
    """

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.receipts: dict[str, Json] = {}

    def write(self, key: str | None = None) -> tuple[int, str] | None:
        """One record; None if it was accepted, else how it was refused."""
        key = key or fresh("key")
        content = SystemEntropy().draw(20_000).hex()
        answer = self.caller.command(RECORDS, key, type="create", record={"content": content})
        if answer.status_code == 200:
            self.receipts[key] = answer.json()["receipt"]
            return None
        return answer.status_code, answer.json()["error"]["code"]

    def write_until_refused(self, records_max: int = 3_000) -> str:
        """The key of the command that met the full disk."""
        for _ in range(records_max):
            key = fresh("key")
            refused = self.write(key)
            if refused is not None:
                assert UNAVAILABLE == refused
                return key
        raise AssertionError("the disk takes everything")

    def found(self, key: str) -> Json | None:
        """The receipt of a key, as the server tells it."""
        answer = self.caller.ask(RECEIPTS, family="record", idempotency_key=key)
        receipt: Json | None = answer.json()["receipt"] if answer.status_code == 200 else None
        return receipt

    def assert_all_found(self) -> None:
        """Whatever was acknowledged is there as it was told."""
        for key, receipt in self.receipts.items():
            assert receipt == self.found(key)
