# SPDX-License-Identifier: Apache-2.0
"""Folders of running labs: one per lab, locked while it runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fairlead.errors import LabError
from fairlead.files.own_files import open_own_file, open_own_folder
from fairlead.lab.host_quotas import remove_groups

__all__ = ["CONTROL", "claim", "is_alive", "lab_folder", "live_labs"]

CONTROL = "control"
"""The holder's socket, which it creates last."""
_LOCK = "lock"


def labs_folder() -> Path:
    """The user's own folder for labs, mode 0700.

    Raises:
        LabError: The folder belongs to another user.
    """
    within = os.environ.get("FAIRLEAD_LAB_HOSTFILE")
    if within:
        return Path(within).parents[1]  # In a lab the place of temporary files is another.
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    # The lab's scripts are started from there.
    if runtime and os.access(runtime, os.W_OK) and not os.statvfs(runtime).f_flag & os.ST_NOEXEC:
        folder = Path(runtime) / "fairlead"
    else:
        folder = Path(tempfile.gettempdir()) / f"fairlead-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        os.close(open_own_folder(folder))
    except OSError as error:
        raise LabError(
            f"{folder}: must be a folder that only user {os.getuid()} may write to; remove it and "
            f"try again ({error.strerror})"
        ) from error
    return folder


def lab_folder(name: str) -> Path:
    """Folder of a lab that is up.

    Raises:
        LabError: There is no such lab.
    """
    if name not in live_labs():
        up = ", ".join(live_labs()) or "none is"
        raise LabError(f"lab {name!r} is not up (up: {up})")
    return labs_folder() / name


def live_labs() -> list[str]:
    """Names of the labs that are up and ready; folders of crashed ones are removed."""
    with _all_locked() as folder:
        labs = sorted(path for path in folder.iterdir() if path.is_dir())
        for lab in labs:
            if not is_alive(lab):
                remove_groups(lab)
                shutil.rmtree(lab, ignore_errors=True)
        return [lab.name for lab in labs if (lab / CONTROL).exists()]


def claim(name: str, exact: bool) -> tuple[Path, int]:
    """Reserve a name for a new lab.

    Args:
        name: The wanted name.
        exact: Whether it must be this name; otherwise "-2", "-3", ... is added if it is taken.

    Returns:
        The lab's new folder, and a file descriptor that holds its lock: the lab counts as running
        until all processes that have it have ended.

    Raises:
        LabError: The name is taken.
    """
    live = live_labs()
    with _all_locked() as labs:
        number = 1
        folder = labs / name
        while folder.exists():
            if exact:
                up = ", ".join(live)
                raise LabError(f"lab {name!r} is up already (up: {up}); choose another --name")
            number += 1
            folder = labs / f"{name}-{number}"
        folder.mkdir(mode=0o700)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder, lock


def is_alive(folder: Path) -> bool:
    """Whether a process still holds the lab."""
    try:
        lock = open_own_file(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


@contextlib.contextmanager
def _all_locked() -> Iterator[Path]:
    """Only one process at a time may create or remove folders of labs."""
    folder = labs_folder()
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
