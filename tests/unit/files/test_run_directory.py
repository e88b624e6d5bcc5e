# SPDX-License-Identifier: Apache-2.0
"""The folder of a run, and what is noted in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairlead as fl
from fairlead.files.run_directory import RECORD, RunDirectory, make_run_folder, record_line


def test_run_directory_records_steps_in_order(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    directory.record("probe", {"seconds": 1})
    directory.record("trace", {"seconds": 2})
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


MAKE_ONE = """
import sys
from pathlib import Path
from fairlead.files.run_directory import RunDirectory

sys.stdin.readline()
named = Path(sys.argv[1]) if len(sys.argv) > 1 else None
try:
    print(RunDirectory.new(named, "solver").path)
except Exception as error:
    print(error)
"""


def made_at_the_same_time(state: Path, *named: str, number: int = 4) -> list[str]:
    """What processes that make a run's folder at the same moment have printed."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE_ONE, *named],
            env={**os.environ, "XDG_STATE_HOME": str(state)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(number)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate()[0].strip() for process in processes]


def test_jobs_that_start_together_get_folders_of_their_own(tmp_path: Path) -> None:
    assert len({*made_at_the_same_time(tmp_path)}) == 4


def test_a_folder_that_jobs_name_together_is_that_of_one(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")

    printed = made_at_the_same_time(tmp_path, folder)

    assert printed.count(folder) == 1
    assert printed.count(f"{folder}: is not empty; name a new folder for this run") == 3


def test_a_folder_made_for_another_process_takes_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = make_run_folder("demo")

    RunDirectory(folder).record("request", {})

    assert (folder / RECORD).stat().st_size > 0
    assert make_run_folder("demo") != folder


def test_an_end_that_was_noted_is_not_noted_again(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    with pytest.raises(fl.InputError), directory.record_failure():
        directory.record("end", {"exit_code": 7})
        raise fl.InputError("the history cannot be written")
    record = json.loads((tmp_path / "run" / RECORD).read_text())
    assert [step["exit_code"] for step in record["steps"]] == [7]


def test_an_error_outlives_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), directory.record_failure():
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
    directory.record("probe", {"seconds": 1})

    assert directory.path.parent == tmp_path / "work"
    assert len(lines) == 1
    assert lines[0].startswith(f"the record of this run is lost: {tmp_path}/state/fairlead/runs/")
    assert record_line(directory.path) == "this run leaves no record"
    named = RunDirectory.new(tmp_path / "named", "solver", lines.append).path
    assert record_line(named) == f"the record of this run: {named}"


def test_a_folder_that_the_user_named_has_to_be_usable(tmp_path: Path) -> None:
    (tmp_path / "named").write_text("a file, not a folder")

    with pytest.raises(fl.InputError, match="named: cannot be made"):
        RunDirectory.new(tmp_path / "named", "solver")


def test_a_record_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    lines: list[str] = []
    directory = RunDirectory(tmp_path / "run", lines.append)
    shutil.rmtree(tmp_path / "run")

    for _ in range(2):
        directory.record("probe", {"seconds": 1})

    assert len(lines) == 1
    assert lines[0].startswith(f"the record of this run is lost: {tmp_path}/run/run.json: ")
