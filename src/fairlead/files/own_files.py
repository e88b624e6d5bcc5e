# SPDX-License-Identifier: Apache-2.0
"""Files and folders in folders where everybody writes: foreign until they are checked."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from fairlead.errors import InputError

__all__ = ["open_own_file", "open_own_folder", "require_own"]


def require_own(folder: Path) -> None:
    """Check that a folder is this user's, if it is there: nothing is kept in that of another one.

    Root could write to it, and its owner could not remove what was written.

    Raises:
        InputError: It is another user's.
    """
    try:
        owner = folder.stat().st_uid
    except OSError:
        return
    if owner != os.getuid():
        raise InputError(f"{folder}: belongs to another user (uid {owner})")


def open_own_folder(path: str | os.PathLike[str], *, folder: int | None = None) -> int:
    """Open a folder of this user that nobody else may write to.

    Args:
        path: The folder.
        folder: Descriptor of the folder that `path` is in; None: the current one.

    Raises:
        OSError: It is a symbolic link, something else, of another user, or others may write to it.
    """
    return _check(path, os.O_RDONLY | os.O_DIRECTORY, folder, stat.S_ISDIR, "folder")


def open_own_file(
    path: str | os.PathLike[str], flags: int = os.O_RDONLY, *, folder: int | None = None
) -> int:
    """Open a regular file of this user that nobody else may write to; never waits for another.

    Args:
        path: The file.
        flags: Flags of open(2).
        folder: Descriptor of the folder that `path` is in; None: the current one.

    Raises:
        OSError: As above. A FIFO would wait until somebody opens its other end, and a device may
            never end.
    """
    return _check(path, flags | os.O_NONBLOCK, folder, stat.S_ISREG, "file")


def _check(
    path: str | os.PathLike[str],
    flags: int,
    folder: int | None,
    is_kind: Callable[[int], bool],
    kind: str,
) -> int:
    opened = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        # What was opened is checked, not the name: that may stand for another file by now.
        status = os.fstat(opened)
        if not is_kind(status.st_mode):
            raise OSError(errno.EINVAL, f"is no regular {kind}", os.fspath(path))
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise OSError(errno.EPERM, f"is no {kind} of this user alone", os.fspath(path))
    except BaseException:
        os.close(opened)
        raise
    return opened
