# SPDX-License-Identifier: Apache-2.0
"""Empty folders of an image that a runtime can mount on, where it can make none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["free_mount_points"]

# Charliecloud's images have /mnt/0 to /mnt/9. The Filesystem Hierarchy Standard 3.0 has /mnt for
# temporary mounts and /media for removable media; an image has nothing there.
_USUAL = ("/mnt/9", "/mnt", "/media")


def free_mount_points(root: Path | None, used: Iterable[str]) -> list[Path]:
    """Folders to mount on, the best first.

    Args:
        root: The image where it is a folder, to leave out what it does not have or has filled;
            else None.
        used: Where the user mounts already: nothing of this is hidden.
    """
    taken = [Path(one) for one in used]
    usual = [Path(one) for one in _USUAL]
    free = [
        one
        for one in usual
        if not any(other.is_relative_to(one) or one.is_relative_to(other) for other in taken)
    ]
    return free if root is None else [one for one in free if _is_empty(root / one.relative_to("/"))]


def _is_empty(folder: Path) -> bool:
    try:
        return not any(folder.iterdir())
    except OSError:  # It is missing, or may not be read.
        return False
