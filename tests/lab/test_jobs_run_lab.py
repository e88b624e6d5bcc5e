# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs run` in an emulated cloud of four hosts with three slots each."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from lab_processes import child_of, processes_named
from lab_traces import happens

import fairlead as fl
from fairlead.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

SCENARIO = 'name = "jobs"\nhosts = 4\nslots = 3\nnic = "400Mbit/s"\n'
WHERE = 'echo "rank $OMPI_COMM_WORLD_RANK on $(uname -n)"; '
# No rank ends before the other job's have begun: "$1" and "$2" are their files.
MEET = 'touch "$1"; until [ -e "$2" ]; do sleep 0.05; done; '


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    scenario = tmp_path_factory.mktemp("scenario") / "jobs.toml"
    scenario.write_text(SCENARIO)
    with Lab.up(scenario) as small:
        yield small


@pytest.fixture
def run(lab: Lab, tmp_path: Path):
    """Starts `fairlead jobs run` in the lab; traces of a ring of 4 and of 3 ranks are there."""
    for num_ranks in (3, 4):
        ring = np.roll(np.eye(num_ranks), 1, axis=1)
        fl.Traffic(ring * 1e6, ring * 10, run_time_s=1.0).save(tmp_path / f"{num_ranks}.npz")
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    env = {**os.environ, **lab.env, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"}

    def start(*jobs: str, options: Sequence[str] = ()) -> subprocess.Popen[str]:
        (tmp_path / "jobs.toml").write_text("".join(jobs))
        command = [sys.executable, "-m", "fairlead", "jobs", "run", "jobs.toml"]
        return subprocess.Popen(
            lab.command([*command, "--hostfile", str(lab.hostfile), *options]),
            env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        )  # fmt: skip

    return start


def script(text: str, *words: str, num_ranks: int = 4, name: str = "a") -> str:
    """A job of the TOML file, which runs the text in a shell."""
    program = shlex.join(["sh", "-c", text, "sh", *words])
    # A literal text of TOML: backslashes and quotes are its own.
    return (
        f"[[jobs]]\nname = '{name}'\nranks = {num_ranks}\ntraffic = '{num_ranks}.npz'\n"
        f"program = '''{program}'''\n"
    )


def test_jobs_run_at_the_same_time_where_they_were_placed(run, tmp_path: Path) -> None:
    jobs = [
        script(WHERE + MEET, "one", "two", num_ranks=4, name="left"),
        script(WHERE + MEET, "two", "one", num_ranks=3, name="right"),
    ]
    record_folder = tmp_path / "record"
    taken = ["--taken=h1:3", "--taken=h2=0,2"]
    process = run(*jobs, options=["--method=cyclic", *taken, f"--run-dir={record_folder}"])
    out, err = process.communicate()

    assert process.returncode == 0, err
    found = re.findall(r"^\[(left|right)\] rank (\d) on (h\d)$", out, re.MULTILINE)
    assert len(found) == len(out.splitlines()) == 7
    record = json.loads((record_folder / "jobs.json").read_text())
    for job in record["jobs"]:
        hosts = {int(rank): host for name, rank, host in found if name == job["name"]}
        placed = [record["hosts"][host] for host in job["host_of_rank"]]
        assert [hosts[rank] for rank in range(job["num_ranks"])] == placed
    used = [host for _, _, host in found]
    assert [used.count(host) for host in ("h0", "h1", "h2", "h3")] == [3, 0, 1, 3]
    assert "fairlead: Placement of 2 jobs on 4 hosts by cyclic" in err


def test_exit_code_is_that_of_the_first_to_fail(run) -> None:
    process = run(
        script("until [ -e gate ]; do sleep 0.05; done; sleep 4; exit 5", name="slow"),
        script("touch gate; exit 7", num_ranks=3, name="quick"),
    )
    process.communicate()

    assert process.returncode == 7


def test_ctrl_c_ends_all_jobs(run, tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.symlink_to("/bin/sleep")
    text = f"exec {sleeper} 300"
    process = run(script(text, name="a"), script(text, name="b"))
    assert happens(lambda: len(processes_named(str(sleeper))) == 8)

    # The lab's namespaces lie between; the signal goes to fairlead itself, as a terminal's would.
    os.kill(child_of(process.pid, "fairlead"), signal.SIGINT)
    process.communicate()

    assert process.returncode != 0
    assert not processes_named(str(sleeper))
