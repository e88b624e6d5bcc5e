# SPDX-License-Identifier: Apache-2.0
"""Temporary folders; those left by killed processes are removed when the next one is made."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fairlead.files.own_files import open_own_file, open_own_folder

__all__ = ["scratch_folder"]

_LOCK = ".lock"


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder for the time of the block; folders of killed processes are removed first.

    Args:
        prefix: Start of its name; only folders with the same prefix are checked.
        parent: The folder that it is made in; None for the system's temporary one.

    Raises:
        OSError: It cannot be made.
    """
    folder = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_abandoned(folder, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as name:
        lock = os.open(Path(name) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # The owner's name is written after locking, so that a folder with a name always has a
            # lock.
            if _is_locked(lock):
                os.write(lock, _owner())
            yield Path(name)
        finally:
            os.close(lock)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this user whose process on this machine is gone.

    In a folder that several machines share, the locks of the others may be invisible. Whatever else
    lies there may be another user's, and made to be followed or waited for.
    """
    for path in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            folder = open_own_folder(path)
            opened.callback(os.close, folder)
            lock = open_own_file(_LOCK, os.O_RDWR, folder=folder)
            opened.callback(os.close, lock)
            if os.read(lock, 1024) == _owner() and _is_locked(lock):
                shutil.rmtree(path, ignore_errors=True)


def _is_locked(lock: int) -> bool:
    """Whether it could be locked; the kernel frees the lock when the process ends in any way."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # Held by another process, or a file system without locks.
        return False
    return True


def _owner() -> bytes:
    return f"{socket.gethostname()} {os.getuid()}\n".encode()
