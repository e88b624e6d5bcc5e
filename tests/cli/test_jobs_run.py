# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs run`: what it says when it cannot; tests/lab/test_jobs_run_lab.py runs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import fairlead as fl
from fairlead.act.launch import AllFinished, Finished
from fairlead.act.launch.mpich import Mpich
from fairlead.cli import app
from fairlead.flows.jobs.flow import JobsRequest, run_jobs
from fairlead.flows.jobs.jobs_file import JobEntry
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import announce_run

JOB = '[[jobs]]\nprogram = "./ring"\nranks = 4\ntraffic = "ring.npz"\n'


@pytest.fixture(autouse=True)
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostfile of two hosts, and the trace of a ring of four ranks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRLEAD_MPIRUN", "mpirun.openmpi")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    Path("hosts").write_text("h0 slots=4\nh1 slots=2\n")
    sends = np.roll(np.eye(4), 1, axis=1)
    fl.Traffic(sends, sends, run_time_s=1.0).save("ring.npz")


def run(jobs: str, *arguments: str) -> Result:
    Path("jobs.toml").write_text(jobs)
    return CliRunner().invoke(app, ["jobs", "run", "jobs.toml", "--hostfile", "hosts", *arguments])


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("jobs", "arguments", "problem"),
    [
        (JOB.replace("4", "3"), [], "ring.npz: is for 4 ranks, but 3 are to run"),
        (JOB + JOB, [], "8 ranks do not fit: 2 hosts have 6 free slots of 6"),
        (JOB, ["--taken=h0:3"], "4 ranks do not fit: 2 hosts have 3 free slots of 6"),
        (JOB, ["--taken=h9:1"], "taken: no host 'h9'; there are h0, h1"),
        (JOB, ["--machine=gone"], "gone: no such file"),
        (JOB, ["--mpirun=no-such-mpirun"], "no-such-mpirun: no such program"),
        (JOB, ["--launcher-args=--map-by core"], "argument 'map-by' overrules the placement"),
        (JOB.replace("ring.npz", "gone.npz"), [], "gone.npz: no such file"),
        (JOB.replace("./ring", "mpirun ./ring"), [], "jobs[0].program: leave out 'mpirun'"),
        ('[[jobs]]\ntraffic = "ring.npz"\n', [], "jobs.toml: jobs[0].program: is missing"),
    ],
)
def test_trouble_is_one_line_before_anything_starts(
    jobs: str, arguments: list[str], problem: str
) -> None:
    said = run(jobs, *arguments)

    assert isinstance(said.exception, fl.Error)
    assert problem in str(said.exception)
    assert "\n" not in str(said.exception)
    assert said.stdout == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scale": 0.0}, "scale: must be above 0 and at most 1, got 0"),
        ({"time_limit_s": -1.0}, "time limit: must be > 0 s, got -1"),
        ({"seed": -1}, "seed: must be from 0 to 4294967295, got -1"),
        ({"method": "magic"}, "method: unknown name 'magic'; there are blocked"),
    ],
)
def test_values_are_checked_before_a_program_is_traced(
    change: dict[str, object], problem: str
) -> None:
    request = JobsRequest(
        [JobEntry(program="./never-started", ranks=4)],
        fl.Cluster.uniform(("h0",), slots=4),
        directory=Path("run"),
    )
    request = dataclasses.replace(request, **change)

    with pytest.raises(fl.InputError, match=problem):
        run_jobs(request, Narrator(), lambda *_mapped: None, lambda *_line: None)
    assert not Path("run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method=magic"],
        ["--method=spread", "--time-limit=1s"],
        ["--scale=nan"],
        ["-H", "h0,h1"],
        ["-n", "4"],
        ["--", "./ring"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(JOB, *arguments).exit_code == 2


@pytest.mark.mpi
def test_hosts_may_be_spelled_as_mpiruns_on_either_side_of_the_file() -> None:
    Path("jobs.toml").write_text(JOB)
    for words in (["-machinefile", "gone", "jobs.toml"], ["jobs.toml", "-machinefile", "gone"]):
        said = CliRunner().invoke(app, ["jobs", "run", *words])
        assert "gone: hostfile cannot be read" in str(said.exception)


def test_other_runs_on_the_hosts_know_of_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Mpich(Path("mpirun"), (4, 0, 2))
    monkeypatch.setattr("fairlead.flows.jobs.flow.detect", lambda *_all: launcher)
    seen: list[list[str]] = []

    def run_concurrently(*_all: object, **_more: object) -> AllFinished:
        with announce_run(["h1"], "other") as other:
            seen.append(other.others())
        return AllFinished((Finished(0, 1.0),), 0)

    monkeypatch.setattr("fairlead.flows.jobs.flow.launch.run_concurrently", run_concurrently)
    job = JobEntry(program="./ring", ranks=4, traffic=Path("ring.npz"))
    request = JobsRequest([job], fl.Cluster.uniform(("h0", "h1"), slots=2))

    assert run_jobs(request, Narrator(), lambda *_mapped: None, lambda *_line: None) == 0
    assert seen == [["jobs"]]
