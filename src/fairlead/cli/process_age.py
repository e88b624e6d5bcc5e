# SPDX-License-Identifier: Apache-2.0
"""How long this process has run: what a command took, the start of Python and imports included."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["process_age_s"]

# Fields of /proc/PID/stat after the name, which ends with the last parenthesis: the 22nd of all is
# the start in clock ticks since boot (proc(5)).
_START_AFTER_NAME = 22 - 3


def process_age_s() -> float:
    """Seconds since this process was started, to a hundredth."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    start_s = int(fields[_START_AFTER_NAME]) / os.sysconf("SC_CLK_TCK")
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - start_s)
