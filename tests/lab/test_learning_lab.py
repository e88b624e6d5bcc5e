# SPDX-License-Identifier: Apache-2.0
"""What a run learns of a program with other inputs: guessed from one, corrected by another.

Rank r talks to rank r + A (modulo 8), where A is the program's first argument.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lab_processes import fairlead

from fairlead.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

SHIFTED = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char out[20000], in[20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int shift = atoi(argv[1]);
  for (int i = 0; i < 20; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + shift) % size, 0, in, sizeof in, MPI_CHAR,
                 (rank + size - shift) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\\n", sum);
  MPI_Finalize();
  return 0;
}
"""


def run(lab: Lab, home: Path, *command: str, num_ranks: int = 8) -> tuple[str, dict[str, Any]]:
    """What was printed on stderr, and the steps of the run's record."""
    options = ("--tune", "never", "--relay", "never", "-n", str(num_ranks))
    done = fairlead(lab, home, "run", *options, "--hostfile", str(lab.hostfile), "--", *command)
    assert done.stdout == f"sum {num_ranks * (num_ranks - 1) // 2}\n"
    folder = max((home / "XDG_STATE_HOME" / "fairlead" / "runs").iterdir())
    steps = json.loads((folder / "run.json").read_text())["steps"]
    assert not (folder / "trace").exists() and not (folder / "shares").exists()
    shown = fairlead(lab, home, "show", folder.name).stdout
    return f"{done.stderr}{shown}", {step["step"]: step for step in steps}


def test_a_wrong_guess_is_found_out_and_corrected_by_the_next_run(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "shifted.c").write_text(SHIFTED)
    program = str(tmp_path / "shifted")
    subprocess.run(["mpicc.openmpi", program + ".c", "-o", program], check=True)

    run(lab, tmp_path, program, "1", "a")
    alike, right = run(lab, tmp_path, program, "1", "b")
    other, wrong = run(lab, tmp_path, program, "4", "b")
    again, known = run(lab, tmp_path, program, "4", "b")
    fewer, extended = run(lab, tmp_path, program, "1", "a", num_ranks=4)

    assert "traffic: guessed from the run with 1 a: how well that fits is not known yet" in alike
    assert "traffic: the guess was right: this run's differs from it by 0.0%" in alike
    assert right["learned"]["guessed_from"] == ["1", "a"]
    assert "traffic: guessed from the run with 1 b: so far the traffic of one input" in other
    assert "traffic: the guess was wrong: this run's differs from it by " in other
    assert wrong["learned"]["difference"] > 0.9
    assert "The traffic was guessed from a run with 1 b: this run's own differs from it by" in other
    assert "using the trace of an earlier run with as many ranks" in again
    assert known["learned"]["difference"] < 0.01 and not known["learned"]["is_corrected"]
    assert "extended from 8 to 4 ranks as a ring" in fewer
    assert extended["learned"]["difference"] < 0.02
