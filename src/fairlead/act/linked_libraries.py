# SPDX-License-Identifier: Apache-2.0
"""Which libraries the loader finds for a program, by ldd(1)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["list_libraries"]


def list_libraries(program: Path | str, env: Mapping[str, str] | None = None) -> str:
    """Lines as `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)`; empty for a script and the like.

    They are empty, too, where there is no ldd, as in small containers: nothing is known then.

    Args:
        program: Its path.
        env: Variables with which it is started, in addition to those of this process.
    """
    command = ["ldd", str(program)]
    whole = {**os.environ, **(env or {})}
    try:
        # Standard input is the program's.
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, env=whole
        )
    except OSError:
        return ""
    # Folders of libraries may have any name.
    return os.fsdecode(done.stdout)
