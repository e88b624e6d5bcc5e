# SPDX-License-Identifier: Apache-2.0
"""Collectives tuned on hosts with an uneven network between them: by the command, and in a run."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lab_processes import RUN_TWICE, fairlead

from fairlead.lab import Lab
from fairlead.watch.collective_drift import drift_counts

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

BROADCASTS = """
#include <mpi.h>
#include <stdio.h>
static char message[300000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 40; ++step) {
    message[0] = rank == 1 ? (char)step : -1;
    MPI_Bcast(message, sizeof message, MPI_CHAR, 1, MPI_COMM_WORLD);
    if (message[0] != step) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) printf("all broadcasts have arrived\\n");
  MPI_Finalize();
  return 0;
}
"""


ARRIVED = "all broadcasts have arrived\n"
NETWORK = "collectives-network.json"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("program")
    (folder / "broadcasts.c").write_text(BROADCASTS)
    built = folder / "broadcasts"
    subprocess.run(["mpicc.openmpi", folder / "broadcasts.c", "-o", built], check=True)
    return str(built)


def force_broadcasts(plan: Path) -> None:
    """A rule for all broadcasts, whatever tuning found; their times are watched, so counted."""
    file = plan / "collectives.json"
    rule = {"operation": "bcast", "min_bytes": 0, "max_bytes": None, "hosts": None,
            "method": "forest"}  # fmt: skip
    file.write_text(json.dumps(json.loads(file.read_text()) | {
        "rules": [rule], "max_drift_ratio": 1000.0,
    }))  # fmt: skip


def num_followed(run: Path) -> int:
    """Calls of the program that followed a schedule, as far as windows of them have ended."""
    counts = drift_counts(run)
    return 0 if counts is None else counts.calls


def test_run_tunes_the_collectives_that_the_program_calls(
    lab: Lab, tmp_path: Path, program: str
) -> None:

    def run(name: str) -> dict[str, Any]:
        done = fairlead(
            lab, tmp_path, *RUN_TWICE, "--json", "-n", "8", "--hostfile", str(lab.hostfile),
            "--run-dir", str(tmp_path / name), "--", program,
        )  # fmt: skip
        assert done.stdout == ARRIVED
        return next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))

    collectives = run("first")["collectives"]

    (call,) = collectives["tuning"]["calls"]
    assert (call["operation"], call["message_bytes"]) == ("bcast", 300000)
    taken = [call["method"]] if call["is_taken"] else []
    assert [rule["method"] for rule in collectives["rules"]] == taken
    assert (tmp_path / "first" / "plan" / "collectives.json").exists() == call["is_taken"]
    # Kept for the next run, which measures nothing.
    assert run("second")["collectives"] == {"rules": collectives["rules"], "tuning": None}


def test_tune_writes_a_plan_that_a_program_follows(lab: Lab, tmp_path: Path, program: str) -> None:
    plan, record = tmp_path / "plan", tmp_path / "run"
    command = ("-n", "8", "--hostfile", str(lab.hostfile))

    done = fairlead(
        lab, tmp_path, "tune", "--json", *command, "--operations", "allgather,bcast",
        "--sizes", "64KiB", "-o", str(plan),
    )  # fmt: skip
    facts = json.loads(done.stdout)
    rules = json.loads((plan / "collectives.json").read_text())["rules"]
    force_broadcasts(plan)
    taken = fairlead(
        lab, tmp_path, *RUN_TWICE, "--plan", str(plan), *command,
        "--run-dir", str(record), "--", program,
    )  # fmt: skip

    assert {call["operation"] for call in facts["calls"]} == {"allgather", "bcast"}
    assert [rule["operation"] for rule in rules] == [rule["operation"] for rule in facts["rules"]]
    assert taken.stdout == ARRIVED
    assert num_followed(record) > 0
    # The run has probed the pairs alone, and those of the plan together, too.
    tuned = (plan / NETWORK).read_text()
    assert (record / "plan" / NETWORK).read_text() == tuned
    assert (record / "plan" / "network.json").read_text() != tuned


def test_exported_tuning_starts_a_program_by_the_line_that_is_printed(
    lab: Lab, tmp_path: Path, program: str
) -> None:
    exported = tmp_path / "exported"

    done = fairlead(
        lab, tmp_path, "tune", "--json", "--export", "ompi", "-n", "8",
        "--hostfile", str(lab.hostfile), "--operations", "allgather,bcast", "--sizes", "64KiB",
        "--budget", "3s", "-o", str(exported),
    )  # fmt: skip
    mpirun, *line, placeholder = shlex.split(json.loads(done.stdout)["usage"])

    assert (mpirun, placeholder) == ("mpirun", "PROGRAM")
    hosts = (exported / "hosts").read_text().split()
    rank_and_host = ["sh", "-c", "echo $OMPI_COMM_WORLD_RANK $(hostname)"]
    assert sorted(lines_of(lab, *line, *rank_and_host)) == [
        f"{rank} {host}" for rank, host in enumerate(hosts)
    ]
    assert lines_of(lab, *line, program) == ARRIVED.splitlines()


def lines_of(lab: Lab, *words: str) -> list[str]:
    """What is printed by a program without Fairlead."""
    launcher = ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    done = lab.run([*launcher, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_kept_tuning_is_followed_on_the_network_on_which_it_was_found(
    lab: Lab, tmp_path: Path, program: str
) -> None:
    def run(name: str) -> Path:
        done = fairlead(
            lab, tmp_path, *RUN_TWICE, "-n", "8", "--hostfile", str(lab.hostfile),
            "--method", "launcher", "--run-dir", str(tmp_path / name), "--", program,
        )  # fmt: skip
        assert done.stdout == ARRIVED
        return tmp_path / name

    run("first")
    (kept,) = (tmp_path / "XDG_CACHE_HOME" / "fairlead" / "collectives").iterdir()
    force_broadcasts(kept)
    # The next run measures the network anew.
    shutil.rmtree(tmp_path / "XDG_CACHE_HOME" / "fairlead" / "networks")
    second = run("second")

    assert num_followed(second) > 0
    tuned = (kept / NETWORK).read_text()
    assert (second / "plan" / NETWORK).read_text() == tuned
    assert (second / "plan" / "network.json").read_text() != tuned
