# SPDX-License-Identifier: Apache-2.0
"""Temporary folders: gone with their block, and with the next one where they were left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.files.scratch import _owner, scratch_folder

HOLD = """
import sys
from pathlib import Path
from fairlead.files.scratch import scratch_folder
with scratch_folder("work-", Path(sys.argv[1])) as folder:
    (folder / "rankfile").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


class Holder:
    """A process that is in the block of a folder."""

    def __init__(self, parent: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def end(self, *, kill: bool = False) -> None:
        if kill:
            self.process.kill()
        self.process.communicate()


def test_folder_exists_during_the_block_and_not_after_it(tmp_path: Path) -> None:
    with scratch_folder("work-", tmp_path) as folder:
        assert folder.parent == tmp_path
        (folder / "file").touch()

    assert list(tmp_path.iterdir()) == []


def test_folder_of_a_killed_process_goes_with_the_next(tmp_path: Path) -> None:
    holder = Holder(tmp_path)
    holder.end(kill=True)
    assert (holder.folder / "rankfile").exists()

    with scratch_folder("work-", tmp_path):
        assert not holder.folder.exists()


def test_folder_of_a_living_process_stays(tmp_path: Path) -> None:
    holder = Holder(tmp_path)
    try:
        with scratch_folder("work-", tmp_path):
            assert (holder.folder / "rankfile").exists()
    finally:
        holder.end()


def test_folders_of_other_names_machines_and_programs_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = Holder(tmp_path)
    holder.end(kill=True)
    (tmp_path / "work-of-another-program").mkdir()

    with scratch_folder("other-", tmp_path):
        assert holder.folder.exists()
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    with scratch_folder("work-", tmp_path):
        assert holder.folder.exists()

    assert (tmp_path / "work-of-another-program").exists()


def foreign(parent: Path, kind: str) -> Path:
    """What another user could leave where temporary folders are made."""
    folder = parent / "work-foreign"
    if kind == "link":
        (parent / "elsewhere").mkdir()
        folder.symlink_to(parent / "elsewhere")
        (folder / ".lock").write_bytes(_owner())
        return folder
    if kind == "fifo alone":
        os.mkfifo(folder)
        return folder
    folder.mkdir(mode=0o700)
    if kind == "fifo":
        os.mkfifo(folder / ".lock", 0o600)
    elif kind == "link to a fifo":
        os.mkfifo(parent / "fifo", 0o600)
        (folder / ".lock").symlink_to(parent / "fifo")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / ".lock"))
    else:
        (folder / ".lock").write_bytes(_owner())
        folder.chmod(0o777)
    return folder


@pytest.mark.parametrize(
    "kind", ["fifo", "fifo alone", "link to a fifo", "link", "socket", "writable by all"]
)
def test_what_others_left_is_neither_waited_for_nor_removed(tmp_path: Path, kind: str) -> None:
    folder = foreign(tmp_path, kind)

    with scratch_folder("work-", tmp_path):
        pass

    assert os.path.lexists(folder)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_folder_of_another_user_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "work-foreign"
    folder.mkdir(mode=0o700)
    (folder / ".lock").write_bytes(_owner())
    os.chown(folder, 65534, 65534)

    with scratch_folder("work-", tmp_path):
        pass

    assert folder.exists()
