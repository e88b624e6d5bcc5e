# SPDX-License-Identifier: Apache-2.0
"""Other load on the machine, for benchmarks that are to run under it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep this many processes computing while the block runs."""
    # It ends with this process, also where that is killed.
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-c", "while True: pass"]
    load = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in load:
            process.kill()
            process.wait()
