# SPDX-License-Identifier: Apache-2.0
"""Questions about files that have an answer for any text, and for folders that cannot be searched.

`pathlib` raises for a text that is too long for a name, and where the user may not search a folder.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_file", "is_there", "list_files"]


def is_file(text: Path | str) -> bool:
    """Whether a text, which may be something else such as a long list, names a file."""
    return os.path.isfile(text)  # noqa: PTH113 (Path.is_file raises for more than 255 characters)


def is_there(path: Path | str) -> bool:
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
