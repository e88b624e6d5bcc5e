# SPDX-License-Identifier: Apache-2.0
"""The real libraries accept exported tuning files, and follow them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from launchers import MPIS

from fairlead.act import mpi_builds
from fairlead.act.launch import detect
from fairlead.act.tuning_files import TUNING_FILES, NativeRule

pytestmark = [pytest.mark.mpi]

BROADCAST = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char* message = calloc(1, (size_t)atol(argv[1]));
  MPI_Bcast(message, atoi(argv[1]), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  free(message);
  return 0;
}
"""

RULES = [NativeRule("bcast", "basic_linear", 1000, 1999)]


def program(mpicc: str, folder: Path) -> Path:
    source, built = folder / "broadcast.c", folder / "broadcast"
    source.write_text(BROADCAST)
    subprocess.run([mpicc, source, "-o", built], check=True)
    return built


def sent_by_root(folder: Path, built: Path, size: int) -> list[int]:
    """Ranks to which rank 0 sends inside a broadcast, as Open MPI's own monitoring tells."""
    options = {
        "pml_monitoring_enable": "2",
        "pml_monitoring_enable_output": "1",
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": str(folder / "rules.conf"),
    }
    arguments = [word for item in options.items() for word in ("--mca", *item)]
    done = subprocess.run(
        [MPIS["openmpi-4"].mpirun, "--oversubscribe", "-n", "4", *arguments, built, str(size)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return sorted(int(peer) for peer in re.findall(r"^I\t0\t(\d+)\t", done.stdout, re.MULTILINE))


def test_open_mpi_sends_as_the_rules_say(tmp_path: Path) -> None:
    built = program(MPIS["openmpi-4"].mpicc, tmp_path)
    (tmp_path / "rules.conf").write_text(TUNING_FILES["ompi"].render(RULES, 4, built))

    # From the root to all, where Open MPI's own decision is a binomial tree.
    assert sent_by_root(tmp_path, built, 1500) == [1, 2, 3]
    assert sent_by_root(tmp_path, built, 999) == [1, 2]


@pytest.mark.parametrize(
    ("algorithm", "is_known"), [("scatter_ring_allgather", True), ("x", False)]
)
def test_mpich_takes_the_selection_and_knows_its_names(
    tmp_path: Path, algorithm: str, is_known: bool
) -> None:
    mpi = MPIS["mpich-4"]
    library = mpi_builds.find(detect(mpi.mpirun)).tune
    built = program(mpi.mpicc, tmp_path)
    selection = tmp_path / "selection.json"
    rules = [NativeRule("bcast", algorithm, 1000, 1999)]
    selection.write_text(TUNING_FILES["mpich"].render(rules, 4, library))

    done = subprocess.run(
        [
            *(mpi.mpirun, "-genv", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", selection),
            *("-n", "4", built, "1500"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode == 0) == is_known
    assert ("unrecognized key algorithm=MPIR_Bcast_intra_x" in done.stderr) != is_known
