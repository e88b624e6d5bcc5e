# SPDX-License-Identifier: Apache-2.0
"""What cannot be looked up counts as missing: a run goes on without what is kept there."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.files.lookup import is_there, list_files
from fairlead.files.pruning import prune_oldest
from fairlead.files.run_directory import RunDirectory, is_kept

CLOSED = Path("/tmp") / ("x" * 300)
"""Where every call fails, also for root: no name may have so many characters."""


def test_what_is_there_is_found(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).touch()
    assert is_there(tmp_path / "a.json")
    assert list_files(tmp_path, "*.json") == [tmp_path / "a.json", tmp_path / "b.json"]


@pytest.mark.parametrize("folder", [CLOSED, Path("/no/such/folder")])
def test_a_closed_folder_is_as_a_missing_one(folder: Path) -> None:
    assert not is_there(folder / "a.json")
    assert list_files(folder, "*.json") == []
    prune_oldest(folder, "*.json", 0)


def test_a_run_whose_state_cannot_be_looked_up_goes_on_without_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(CLOSED))
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    directory = RunDirectory.new(None, "solver", lines.append)
    assert not is_kept(directory.path)
    assert [line.partition(":")[0] for line in lines] == ["the record of this run is lost"]
