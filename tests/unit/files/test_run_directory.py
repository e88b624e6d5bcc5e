# SPDX-License-Identifier: Apache-2.0
"""The folder of a run, and what is noted in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairlead as fl
from fairlead.files.run_directory import RECORD, RunDirectory


def test_run_directory_records_steps_in_order(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.note("probe", {"seconds": 1})
    directory.note("trace", {"seconds": 2})
    record = json.loads((tmp_path / "run" / RECORD).read_text())
    assert [step["step"] for step in record["steps"]] == ["probe", "trace"]
    assert record["kind"] == "run"


def test_run_directory_is_never_mixed_with_another(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(fl.InputError, match="is not empty"):
        RunDirectory(tmp_path)


def test_run_directories_of_one_second_get_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    paths = {RunDirectory.new(None, "solver").path for _ in range(3)}
    assert len(paths) == 3


def test_an_end_that_was_noted_is_not_noted_again(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    with pytest.raises(fl.InputError), directory.noting_failure():
        directory.note("end", {"exit_code": 7})
        raise fl.InputError("the history cannot be written")
    record = json.loads((tmp_path / "run" / RECORD).read_text())
    assert [step["exit_code"] for step in record["steps"]] == [7]


def test_an_error_outlives_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    (tmp_path / "run").rmdir()
    with pytest.raises(KeyboardInterrupt), directory.noting_failure():
        raise KeyboardInterrupt


def test_a_state_folder_that_cannot_be_made_costs_the_record_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path / "work")
    lines: list[str] = []

    directory = RunDirectory.new(None, "solver", lines.append)
    directory.note("probe", {"seconds": 1})

    assert directory.path.parent == tmp_path / "work"
    assert len(lines) == 1
    assert lines[0].startswith(f"the record of this run is lost: {tmp_path}/state/fairlead/runs/")


def test_a_folder_that_the_user_named_has_to_be_usable(tmp_path: Path) -> None:
    (tmp_path / "named").write_text("a file, not a folder")

    with pytest.raises(fl.InputError, match="named: cannot be made"):
        RunDirectory.new(tmp_path / "named", "solver")


def test_a_record_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    lines: list[str] = []
    directory = RunDirectory(tmp_path / "run", lines.append)
    (tmp_path / "run").rmdir()

    for _ in range(2):
        directory.note("probe", {"seconds": 1})

    assert len(lines) == 1
    assert lines[0].startswith(f"the record of this run is lost: {tmp_path}/run/run.json: ")
