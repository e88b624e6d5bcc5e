# SPDX-License-Identifier: Apache-2.0
"""How long this process has run: what a command took, the start of Python and imports included."""

from __future__ import annotations

import os
import time

from fairlead.files.process_identity import start_ticks

__all__ = ["process_age_s"]


def process_age_s() -> float:
    """Seconds since this process was started, to a hundredth."""
    start_s = start_ticks(os.getpid()) / os.sysconf("SC_CLK_TCK")
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - start_s)
