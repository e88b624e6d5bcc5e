# SPDX-License-Identifier: Apache-2.0
"""Collectives tuned on hosts with an uneven network between them: by the command, and in a run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lab_processes import fairlead

from fairlead.lab import Lab

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


def test_run_tunes_the_collectives_that_the_program_calls(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "broadcasts.c").write_text(BROADCASTS)
    program = str(tmp_path / "broadcasts")
    subprocess.run(["mpicc.openmpi", tmp_path / "broadcasts.c", "-o", program], check=True)

    def run(name: str) -> dict[str, Any]:
        done = fairlead(
            lab, tmp_path, "run", "--json", "-n", "8", "--hostfile", str(lab.hostfile),
            "--run-dir", str(tmp_path / name), "--", program,
        )  # fmt: skip
        assert done.stdout == "all broadcasts have arrived\n"
        return next(json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))

    collectives = run("first")["collectives"]

    (call,) = collectives["tuning"]["calls"]
    assert (call["operation"], call["message_bytes"]) == ("bcast", 300000)
    taken = [call["method"]] if call["is_taken"] else []
    assert [rule["method"] for rule in collectives["rules"]] == taken
    assert (tmp_path / "first" / "plan" / "collectives.json").exists() == call["is_taken"]
    # Kept for the next run, which measures nothing.
    assert run("second")["collectives"] == {"rules": collectives["rules"], "tuning": None}


def test_tune_writes_a_plan_that_run_takes(lab: Lab, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    command = ("-n", "8", "--hostfile", str(lab.hostfile))

    done = fairlead(
        lab, tmp_path, "tune", "--json", *command, "--operations", "allgather,bcast",
        "--sizes", "64KiB", "-o", str(plan),
    )  # fmt: skip
    taken = fairlead(
        lab, tmp_path, "run", "--plan", str(plan), *command,
        "--run-dir", str(tmp_path / "run"), "--", "true",
    )  # fmt: skip

    facts = json.loads(done.stdout)
    assert {call["operation"] for call in facts["calls"]} == {"allgather", "bcast"}
    rules = json.loads((plan / "collectives.json").read_text())["rules"]
    assert [rule["operation"] for rule in rules] == [rule["operation"] for rule in facts["rules"]]
    assert taken.returncode == 0
