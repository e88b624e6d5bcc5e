# SPDX-License-Identifier: Apache-2.0
"""`fairlead run --job`: what it says when it cannot; tests/lab/test_run_jobs_lab.py runs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import fairlead as fl
from fairlead.cli import app
from fairlead.flows.run_jobs import JobEntry, JobsRequest, run_jobs
from fairlead.narrator import Narrator

JOB = "-n 4 --traffic ring.npz ./ring"


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


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", "--hostfile", "hosts", *arguments])


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--job", JOB.replace("4", "3")], "ring.npz: holds the traffic of 4 ranks, but 3 are to"),
        (["--job", JOB, "--job", JOB], "8 ranks do not fit: 2 hosts have 6 free slots of 6"),
        (["--job", JOB, "--taken=h0:3"], "4 ranks do not fit: 2 hosts have 3 free slots of 6"),
        (["--job", JOB, "--taken=h9:1"], "taken: no host 'h9'; there are h0, h1"),
        (["--job", JOB, "--machine=gone"], "gone: no such file"),
        (["--job", JOB, "--method=magic"], "method: unknown name 'magic'; there are blocked"),
        (["--job", JOB, "--mpirun=no-such-mpirun"], "no-such-mpirun: no such program"),
        (
            ["--job", JOB, "--launcher-args=--map-by core"],
            "argument 'map-by' overrules the placement",
        ),
        (["--job", "-n 4 --traffic gone.npz ./ring"], "gone.npz: no such file"),
        (["--job", "mpirun -n 4 ./ring"], "leave out 'mpirun'"),
    ],
)
def test_trouble_is_one_line_before_anything_starts(arguments: list[str], problem: str) -> None:
    said = run(*arguments)

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
    ],
)
def test_numbers_are_checked_before_a_program_is_traced(
    change: dict[str, float], problem: str
) -> None:
    request = JobsRequest(
        [JobEntry(("./never-started",), 4)], hostfile=Path("hosts"), directory=Path("run")
    )
    request = dataclasses.replace(request, **change)

    with pytest.raises(fl.InputError, match=problem):
        run_jobs(request, Narrator(), lambda _mapped: None, lambda *_line: None)
    assert not Path("run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--job", JOB, "--", "./ring"],
        ["--job", JOB, "-n", "4"],
        ["--job", JOB, "--no-reorder"],
        ["--job", JOB, "--method=spread", "--time-limit=1s"],
        ["--job", JOB, "--scale=nan"],
        ["--method=scotch", "--time-limit=1s", "-n", "4", "--", "./ring"],
        ["--taken=h0:1", "-n", "4", "--", "./ring"],
        ["-n", "4"],
        ["--", "./ring"],
    ],
)
def test_options_of_one_program_and_of_jobs_do_not_mix(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2
