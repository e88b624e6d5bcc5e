# SPDX-License-Identifier: Apache-2.0
"""Time limits in seconds of the core instead of the clock's: the same on a busy machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("core_clock.c")
FOLDER = "FAIRLEAD_BENCH_CORE_CLOCK"


def start_again() -> None:
    """Restart this program under such a clock, if it does not run under it already.

    Only for one thread: the core's seconds are those of all threads.
    """
    if folder := os.environ.pop(FOLDER, None):
        del os.environ["LD_PRELOAD"]
        shutil.rmtree(folder)
        return
    folder = tempfile.mkdtemp()
    library = Path(folder) / "core_clock.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", SOURCE, "-o", library], check=True)
    environment = os.environ | {FOLDER: folder, "LD_PRELOAD": str(library)}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)
