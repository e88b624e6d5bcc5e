# SPDX-License-Identifier: Apache-2.0
"""Which process left a file, and whether it still runs: its number may be another one's by now."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple

__all__ = ["ProcessIdentity", "start_ticks"]

# Fields of /proc/PID/stat after the name, which may itself hold blanks and brackets: the 22nd of
# all is the start in clock ticks since boot (proc(5)).
_START_AFTER_NAME = 22 - 3


class ProcessIdentity(NamedTuple):
    """A process.

    Attributes:
        machine: The machine's own name.
        pid: Its number there.
        started: When it was started, in clock ticks since boot.
        pid_namespace: Where it has that number: containers on one machine have the same numbers.
            Empty where that is not known.
    """

    machine: str
    pid: int
    started: int
    pid_namespace: str = ""

    @classmethod
    def of_this_process(cls) -> ProcessIdentity:
        """That of the process that asks."""
        pid = os.getpid()
        return cls(socket.gethostname(), pid, start_ticks(pid), _own_namespace())

    @property
    def is_here(self) -> bool:
        """Whether it was started where this process sees whether it runs."""
        is_visible = self.pid_namespace in ("", _own_namespace())
        return is_visible and self.machine == socket.gethostname()

    @property
    def is_running(self) -> bool:
        """Whether this machine has it."""
        return start_ticks(self.pid) == self.started != 0


def _own_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 (no file's path)
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """When a process of this machine was started, in clock ticks since boot; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[_START_AFTER_NAME])
