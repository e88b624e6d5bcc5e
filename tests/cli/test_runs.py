# SPDX-License-Identifier: Apache-2.0
"""`fairlead runs` lists what was run; report, advise and show take the latest of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.cli import app
from fairlead.errors import InputError
from fairlead.files.run_directory import RunDirectory
from fairlead.measure.known_inputs import remember_input
from fairlead.measure.profile_cache import remember_traffic
from fairlead.model.placement import Placement


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "fairlead" / "runs"


def fairlead(*arguments: str, columns: int = 100) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": str(columns)})


def leave_run(
    folder: Path, *, decision: dict[str, Any] | None = None, end: dict[str, Any] | None = None
) -> Path:
    """What `fairlead run` leaves, as far as it came."""
    directory = RunDirectory(folder)
    directory.record("request", {"program": ["./cg", "-v"], "num_ranks": 8, "metric": "bytes"})
    directory.record("network", {"hosts": ["a", "b"], "slots": [4, 4], "probe_s": 1})
    if decision is not None:
        directory.record("decision", decision)
    if end is not None:
        directory.record("end", end)
    return folder


def with_files(folder: Path, latency_s: float) -> Path:
    hosts, apart = ["a", "b"], 1 - np.eye(2)
    fl.Network(hosts, latency_s * apart, np.full((2, 2), 1e8)).save(folder / "network.net.npz")
    traffic = fl.Traffic(bytes=1e6 * (1 - np.eye(8)), messages=1 - np.eye(8), run_time_s=1.0)
    traffic.save(folder / "traffic.traffic.npz")
    Placement(("a", "b"), np.arange(8) % 2, method="cyclic").save(folder / "placement.json")
    return folder


def rows(said: Result) -> list[list[str]]:
    """The lines of runs, without those of their programs."""
    return [line.split() for line in said.stdout.splitlines() if not line.startswith(" ")]


@pytest.mark.parametrize("columns", [40, 80])
def test_a_row_is_one_line_on_any_width(columns: int, runs: Path) -> None:
    name = f"20261201-115355-{60 * 's'}"
    kept = {"method": "optimize", "kept_launcher_placement": True}
    leave_run(runs / name, decision=kept, end={"exit_code": 0, "seconds": 0.25})

    row = rows(fairlead("runs", columns=columns))[1]
    assert (row[0], row[-1]) == (name, "done")


def test_each_run_is_a_row_with_its_placement_times_and_end(runs: Path) -> None:
    moved = {"method": "optimize", "kept_launcher_placement": False, "predicted_s": 2.0}
    moved["gain"] = {"ratio": 0.46, "low_ratio": 0.4, "high_ratio": 0.5, "loss_risk": 0.0}
    leave_run(runs / "1-cg", decision=moved, end={"exit_code": 0, "seconds": 1.5})
    kept = {"method": "optimize", "kept_launcher_placement": True}
    leave_run(runs / "2-cg", decision=kept, end={"exit_code": 7, "seconds": 0.25})
    leave_run(runs / "3-cg")
    leave_run(runs / "4-cg", decision=kept, end={"is_dry": True})
    leave_run(runs / "5-cg", decision=kept, end={"exit_code": 0, "seconds": 0.25, "signal": 15})

    said = fairlead("runs", columns=80)

    assert said.exit_code == 0
    assert rows(said) == [
        ["run", "ranks", "hosts", "placement", "expected", "saves", "took", "end"],
        ["1-cg", "8", "2", "optimize", "2", "s", "46%", "1.5", "s", "done"],
        ["2-cg", "8", "2", "launcher", "-", "-", "250", "ms", "exit", "code", "7"],
        ["3-cg", "8", "2", "-", "-", "-", "-", "not", "ended"],
        ["4-cg", "8", "2", "launcher", "-", "-", "-", "dry", "run"],
        ["5-cg", "8", "2", "launcher", "-", "-", "250", "ms", "SIGTERM"],
        ["in", str(runs)],
    ]


def test_names_and_arguments_are_whole_in_80_columns(runs: Path) -> None:
    name = "20240131-120000-solver"
    decision = {"method": "optimize", "predicted_s": 1234.5, "gain": {"ratio": 0.46}}
    leave_run(runs / name, decision=decision, end={"exit_code": 0, "seconds": 1300.5})
    program = ["/opt/solver", *(f"--argument-{number}" for number in range(12))]
    RunDirectory(runs / "3").record("request", {"program": program, "num_ranks": 8})

    lines = fairlead("runs", columns=80).stdout.splitlines()

    assert lines[1].startswith(f"{name} ") and lines[1].endswith(" done")
    assert max(map(len, lines[:-1])) <= 80
    assert " ".join(lines[4:-1]).split() == ["solver", *program[1:]]


def history_of(runs: Path, program: tuple[str, ...]) -> Path:
    times = {"when": "2024-01-31T12:00:00+00:00", "folder": "f", "method": "launcher"}
    kept = {"program": program, "num_ranks": 8, "hosts": ["a", "b"]}
    path = runs.parent / "history" / f"{len(program)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    run = {**times, "host_of_rank": None, "seconds": 1.0, "predicted_s": None}
    path.write_text(json.dumps({"kind": "history", "version": 1, **kept, "runs": [run]}))
    return path


def test_removing_runs_leaves_the_others_and_what_is_no_run(runs: Path) -> None:
    for name in ("1-cg", "2-cg", "3-cg"):
        leave_run(runs / name)
    (runs.parent / "data").mkdir()

    said = fairlead("runs", "--remove", "1-cg", "--remove", str(runs / "3-cg"))
    refused = CliRunner().invoke(app, ["runs", "--remove", str(runs.parent / "data")])

    assert said.exit_code == 0
    assert [folder.name for folder in runs.iterdir()] == ["2-cg"]
    assert isinstance(refused.exception, InputError)
    assert "not the folder of a run" in str(refused.exception)
    assert (runs.parent / "data").is_dir()


def test_forgetting_a_program_removes_its_times_and_decisions_and_no_others(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    decisions = tmp_path / "cache" / "fairlead" / "decisions"
    decisions.mkdir(parents=True)
    leave_run(runs / "1-cg")
    for name, program in (("2-cg", ["./cg", "-v"]), ("3-cg", ["./cg"])):
        record = json.loads((leave_run(runs / name) / "run.json").read_text())
        record["steps"][0]["program"] = program
        for step in ("kept_decision", "kept_inside"):
            file = decisions / f"{name}-{step}.json"
            file.write_text("")
            record["steps"].append({"step": step, "at_s": 0, "file": str(file)})
        (runs / name / "run.json").write_text(json.dumps(record))
    own, other = history_of(runs, ("./cg", "-v")), history_of(runs, ("./cg",))

    said = fairlead("runs", "--forget", "1-cg")

    assert said.stdout == "forgot the times of 1 runs of the program of 1-cg\n"
    assert (own.exists(), other.exists(), (runs / "1-cg").exists()) == (False, True, True)
    left = sorted(file.name for file in decisions.iterdir())
    assert left == ["3-cg-kept_decision.json", "3-cg-kept_inside.json"]


def test_forgetting_a_program_by_its_name_removes_all_that_was_learned_of_it(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache = tmp_path / "cache" / "fairlead"
    launcher = OpenMpi4(Path("mpirun"), (4, 1, 4))
    for program in (("./cg", "-v"), ("./mg",)):
        remember_traffic(fl.Traffic(np.eye(8), np.eye(8)), program, 8, launcher)
        remember_input(program, 8, launcher, None)
    (cache / "decisions").mkdir()
    decision = cache / "decisions" / "1.json"
    decision.write_text("")
    leave_run(runs / "1-cg")
    RunDirectory(runs / "2-cg").record("request", {"program": ["./cg", "-v"], "num_ranks": 8})
    used = RunDirectory(runs / "3-cg")
    used.record("request", {"program": ["./cg", "-v"], "num_ranks": 8})
    used.record("kept_decision", {"file": decision})
    own = history_of(runs, ("./cg", "-v"))

    said = fairlead("runs", "--forget", "./cg")
    unknown = fairlead("runs", "--forget", "./cg")

    assert said.stdout == "forgot the times of 1 runs of the program of cg\n"
    assert not own.exists() and not decision.exists()
    assert len(list((cache / "traffic").glob("*.npz"))) == 1
    assert len(list((cache / "inputs").rglob("*.json"))) == 1
    assert "nor a program of which anything is kept" in str(unknown.exception)


def test_jobs_count_together_and_a_comparison_is_called_one(runs: Path) -> None:
    jobs = RunDirectory(runs / "1-jobs")
    jobs.record("request", {"jobs": [{"num_ranks": 4}, {"num_ranks": 16}], "method": "spread"})
    jobs.record("end", {"exit_codes": [0, 3], "seconds": [1.0, 2.5]})
    leave_run(runs / "2-cg").joinpath("comparison.json").write_text("{}")

    first, second = rows(fairlead("runs"))[1:3]

    assert first == ["1-jobs", "20", "-", "spread", "-", "-", "2.5", "s", "exit", "code", "3"]
    assert second[-1] == "compared"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (None, "run.json: no such file"),
        (b"{", "run.json: damaged or truncated JSON: "),
        (b"\xff", "run.json: damaged or truncated JSON: "),
        (b"[" * 100_000, "run.json: damaged or truncated JSON: "),
        (b"[]", "run.json: "),
        (b'{"kind": ["run"]}', "run.json: kind: "),
        (b'{"kind": "network", "started": "2024-01-31T00:00:00+00:00"}', "run.json: kind: "),
        (b'{"kind": "run", "started": "2024-01-31T00:00:00"}', "run.json: started: "),
        (
            b'{"kind": "run", "started": "2024-01-31T00:00:00+00:00", "steps": 1}',
            "run.json: steps: ",
        ),
        (
            b'{"kind": "run", "started": "2024-01-31T00:00:00+00:00", "steps": '
            b'[{"step": "end", "exit_code": 0, "seconds": NaN}]}',
            "run.json: seconds",
        ),
    ],
    ids=str,
)
def test_a_damaged_record_is_named_among_the_others(
    runs: Path, damage: bytes | None, problem: str
) -> None:
    leave_run(runs / "1-cg", end={"exit_code": 0, "seconds": 1.5})
    (runs / "2-cg").mkdir()
    if damage is not None:
        (runs / "2-cg" / "run.json").write_bytes(damage)

    said = fairlead("runs")

    assert said.exit_code == 0
    assert [row[-1] for row in rows(said)[1:3]] == ["done", "unreadable"]
    assert f"fairlead: {runs}/2-cg/{problem}" in said.stderr
    broken = json.loads(fairlead("runs", "--json").stdout)[1]
    assert broken["folder"] == str(runs / "2-cg")
    assert broken["problem"].startswith(f"{runs}/2-cg/{problem}")


def test_only_the_latest_are_listed_and_json_has_all(runs: Path) -> None:
    for number in range(3):
        leave_run(runs / f"{number}-cg")
    said = fairlead("runs", "--last", "2")
    assert [row[0] for row in rows(said)] == ["run", "1-cg", "2-cg", "in"]
    assert "(1 older ones: --last)" in said.stdout
    facts = json.loads(fairlead("runs", "--last", "2", "--json").stdout)
    assert [run["program"] for run in facts] == [["./cg", "-v"]] * 3


def test_another_folder_can_be_listed(tmp_path: Path) -> None:
    leave_run(tmp_path / "mine" / "solver")
    assert rows(fairlead("runs", "mine"))[1][0] == "solver"


def test_no_runs_yet_is_no_error(runs: Path) -> None:
    said = fairlead("runs")
    assert (said.exit_code, said.stdout) == (0, "")
    assert said.stderr == f"fairlead: {runs}: no runs yet\n"


@pytest.mark.parametrize("command", ["report", "advise", "show"])
def test_the_latest_run_that_has_the_files_is_taken(runs: Path, command: str) -> None:
    with_files(leave_run(runs / "1-cg"), latency_s=1e-4)
    with_files(leave_run(runs / "2-cg"), latency_s=1e-3)
    leave_run(runs / "3-cg")  # It failed while it measured the network.

    latest = fairlead(command, "--json")
    named = fairlead(command, "2-cg", "--json")

    assert latest.exit_code == 0
    assert latest.stdout == named.stdout != ""
    assert f"fairlead: the latest run: {runs}/2-cg\n" in latest.stderr
    assert "latest" not in named.stderr


@pytest.mark.parametrize("command", ["report", "advise", "show"])
def test_without_any_run_the_file_is_asked_for(runs: Path, command: str) -> None:
    said = fairlead(command)
    assert said.exit_code == 1
    assert str(said.exception).startswith(f"{runs}: there are no runs yet")


@pytest.mark.parametrize("command", ["report", "advise", "show"])
def test_where_no_run_has_a_file_for_it_those_are_named(runs: Path, command: str) -> None:
    leave_run(runs / "1-cg")  # It failed while it measured the network.

    said = fairlead(command)

    assert said.exit_code == 1
    assert str(said.exception).startswith(f"{runs}: no run has one of ")


def test_a_path_that_is_there_goes_before_a_runs_name(runs: Path, tmp_path: Path) -> None:
    with_files(leave_run(runs / "cg"), latency_s=1e-3)
    with_files(leave_run(tmp_path / "cg"), latency_s=1e-4)
    hosts = json.loads(fairlead("show", "cg", "--json").stdout)
    assert hosts["kind"] == "placement"
    (tmp_path / "cg" / "placement.json").unlink()
    assert fairlead("show", "cg").exit_code == 1


def test_run_whose_plan_does_not_hold_any_more_says_so(runs: Path) -> None:
    kept = {"method": "optimize", "kept_launcher_placement": True}
    folder = leave_run(runs / "1-cg", decision=kept, end={"exit_code": 0, "seconds": 1.0})
    (folder / "stale.json").write_text("{}")

    assert "done, plan stale" in fairlead("runs", columns=100).stdout
