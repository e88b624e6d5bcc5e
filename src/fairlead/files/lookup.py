# SPDX-License-Identifier: Apache-2.0
"""What is in a folder that the user may not be able to search: nothing, as in one that is missing.

`pathlib` raises there, though what is kept in such a folder is only lost for this run.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_there", "list_files"]


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder, as far as this user can see."""
    return os.path.exists(path)  # noqa: PTH110 (Path.exists raises where a folder is closed)


def list_files(folder: Path, pattern: str) -> list[Path]:
    """The files and folders of a pattern, sorted by their names.

    Args:
        folder: The folder; without it, or where it cannot be searched, there are none.
        pattern: As of `Path.glob`.
    """
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []
