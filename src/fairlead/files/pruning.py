# SPDX-License-Identifier: Apache-2.0
"""Bounds what is kept: of too many files or folders those that were not written for longest go."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from fairlead.files.lookup import list_files

__all__ = ["prune_oldest"]

SLACK_RATIO = 1.1
"""Only beyond this part of the bound anything is removed, then as many as a tenth at once."""


def prune_oldest(folder: Path, pattern: str, most: int) -> None:
    """Remove the files or folders of a pattern that were written first, beyond so many.

    Other processes may write and remove at the same time; what cannot be removed stays.
    """
    found = list_files(folder, pattern)
    if len(found) <= SLACK_RATIO * most:
        return
    dated = []
    for path in found:
        with contextlib.suppress(OSError):
            dated.append((path.stat().st_mtime, path))
    for _, path in sorted(dated)[: len(found) - most]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
