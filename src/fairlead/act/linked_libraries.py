# SPDX-License-Identifier: Apache-2.0
"""Which libraries the loader finds for a program, by ldd(1)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["files_of_libraries", "list_libraries"]

# A folder may have blanks in its name; what the loader does not find has "not found" here.
_FILE = re.compile(r"^\s*(\S+) => (/.+) \(0x[0-9a-f]+\)$", re.MULTILINE)


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


def files_of_libraries(listed: str) -> dict[str, Path]:
    """The file of each library by its name, from what `list_libraries` returns."""
    return {name: Path(file) for name, file in _FILE.findall(listed)}
