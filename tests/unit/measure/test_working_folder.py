# SPDX-License-Identifier: Apache-2.0
"""What a run has created and changed in its working folder, and what it created exclusively."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.measure import working_folder
from fairlead.measure.working_folder import (
    changes_since,
    exclusive_files,
    files_in,
    find_library_of_files,
)


def test_new_files_and_changed_ones_are_named_with_their_sizes(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "state").write_bytes(b"1")
    (tmp_path / "input").write_bytes(b"22")
    before = files_in(tmp_path)
    (tmp_path / "out").write_bytes(b"x" * 2048)
    (tmp_path / "deep" / "state").write_bytes(b"333")

    changes = changes_since(before, files_in(tmp_path))

    assert (changes.created, changes.changed) == ({"out": 2048}, {"deep/state": 3})
    assert changes.line() == (
        "created 1 file and changed 1 file in the working folder: out (2 KiB), deep/state (3 B)"
    )


def test_a_file_that_is_written_again_with_its_size_has_changed(tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("1")
    before = files_in(tmp_path)
    (tmp_path / "counter").write_text("2")
    os.utime(tmp_path / "counter", ns=(0, 12345))

    assert dict(changes_since(before, files_in(tmp_path)).changed) == {"counter": 1}


def test_folders_of_ours_are_left_out(tmp_path: Path) -> None:
    before = files_in(tmp_path, [tmp_path / "record"])
    for name in ("record", ".fairlead-trace-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()

    assert not changes_since(before, files_in(tmp_path, [tmp_path / "record"]))


def test_only_so_many_files_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_folder, "MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    before = files_in(tmp_path)
    assert list(before) == ["a", "b"]

    (tmp_path / "a").unlink()

    # c is older: it was beyond the bound.
    assert not changes_since(before, files_in(tmp_path))


PROGRAM = """
import os
open("exclusive", "x").close()
os.close(os.open("gone", os.O_CREAT | os.O_EXCL))
os.remove("gone")
open("shared", "w").close()
os.mkdir("deep")
folder = os.open("deep", os.O_RDONLY)
os.close(os.open("inside", os.O_CREAT | os.O_EXCL, dir_fd=folder))
try:
    open("exclusive", "x")
except FileExistsError:
    pass
open(os.environ["ELSEWHERE"], "x").close()
"""


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ([sys.executable, "-c", PROGRAM], ("deep/inside", "exclusive")),
        (["/bin/sh", "-c", "set -C; echo > lock; set +C; echo > other"], ("lock",)),
    ],
)
def test_files_that_a_program_creates_exclusively_are_noted_where_they_stay(
    program: list[str], found: tuple[str, ...], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    notes, elsewhere = tmp_path / "notes", tmp_path / "elsewhere"
    library = find_library_of_files()
    assert library is not None
    env = {"LD_PRELOAD": str(library), "FAIRLEAD_EXCLUSIVE": str(notes)}

    subprocess.run(
        program, cwd=work, env=os.environ | env | {"ELSEWHERE": str(elsewhere)}, check=True
    )

    assert exclusive_files(notes, work) == found


def test_without_notes_there_are_none(tmp_path: Path) -> None:
    assert exclusive_files(tmp_path / "missing", tmp_path) == ()
