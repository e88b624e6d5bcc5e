# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` decides on relays by a rehearsal: as a user has it, with an empty cache.

All hosts are alike at first; then h0 -> h1 has a tenth of the others' rate, and both ends of that
pair exchange large messages.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from busy_machine import measured_until
from lab_processes import RUN_TWICE, fairlead, processes_in

from fairlead.act.relay.routers import router_program
from fairlead.lab import Lab, Scenario
from fairlead.watch.past_runs import load_steps

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

PAIRS = """
#include <mpi.h>
#include <stdio.h>
enum { BYTES = 1 << 19 };
static char out[BYTES], in[BYTES];
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 8; ++step)
    MPI_Sendrecv(out, BYTES, MPI_CHAR, rank ^ 1, 0, in, BYTES, MPI_CHAR, rank ^ 1, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d done\\n", rank);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    cloud = {"name": "transfers", "hosts": 4, "slots": 1, "nic": "100Mbit/s"}
    with Lab.up(Scenario.model_validate(cloud)) as up:
        yield up


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "pairs.c").write_text(PAIRS)
    subprocess.run(["mpicc.openmpi", folder / "pairs.c", "-o", folder / "pairs"], check=True)
    return str(folder / "pairs")


def run(lab: Lab, home: Path, folder: Path, program: str) -> tuple[dict[str, Any], str]:
    """What the record says of relays, and what was printed."""
    done = fairlead(
        *(lab, home, *RUN_TWICE, "--method", "launcher", "--budget", "20s"),
        *("--run-dir", str(folder), "-n", "4", "--hostfile", str(lab.hostfile), "--", program),
    )
    assert done.stdout.count("done") == 4, done.stderr
    relays: dict[str, Any] = load_steps(folder)["decision"]["levers"]["relays"]
    return relays, done.stderr


def test_relays_are_tried_where_they_may_help_and_taken_where_a_rehearsal_shows_it(
    lab: Lab, pairs: str, tmp_path: Path
) -> None:
    folders = iter(range(100))

    def run_once(name: str) -> tuple[dict[str, Any], str, Path]:
        home = tmp_path / f"{name} {next(folders)}"
        return *run(lab, home, home / "record", pairs), home

    relays, lines, _home = measured_until(
        lambda found: not found[0]["is_considered"], lambda: run_once("even")
    )
    assert (relays["is_considered"], relays["is_taken"]) == (False, False), lines
    assert "are expected to be faster" in relays["why"]

    lab.degrade("h0", "h1", 0.1)
    # Where a busy machine delays the first relayed message, the paths' next trial comes after the
    # few rounds of the rehearsal, in which relays then gain nothing.
    relays, lines, home = measured_until(
        lambda found: found[0]["is_taken"], lambda: run_once("uneven")
    )
    assert relays["is_considered"], lines
    assert relays["is_taken"], lines
    assert relays["gain"]["ratio"] > 0.1
    assert "relays: taken: " in lines
    assert "relays: routers carried" in lines
    assert processes_in(lab, str(router_program())) == []

    again, lines = run(lab, home, tmp_path / "2", pairs)
    assert again == relays
    assert "directly and with relays" not in lines
