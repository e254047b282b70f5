"""The parts `op-log` and `syscalls`."""

from __future__ import annotations

from crash_tests.system_calls.op_log import PART as OP_LOG
from crash_tests.system_calls.syscalls import PART as SYSCALLS

PARTS = (OP_LOG, SYSCALLS)
