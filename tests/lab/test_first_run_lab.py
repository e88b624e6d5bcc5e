# SPDX-License-Identifier: Apache-2.0
"""What a first run gains, as a user has it with an empty cache: schedules and relays.

Asserted is what was used, not what it saved.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_processes import fairlead, processes_in

from fairlead.act.relay.routers import router_program
from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network
from fairlead.watch.past_runs import load_steps
from fairlead.watch.tried_schedules import load_tried

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

CALLS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { BYTES = 1 << 17, LARGE = 1 << 20 };
static char block[LARGE], other[LARGE];
/* A broadcast, or an exchange with each other rank in turn, of so many steps. */
int main(int argc, char** argv) {
  int rank, size, step, peer;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (step = 0; step < atoi(argv[2]); ++step) {
    if (strcmp(argv[1], "bcast") == 0) {
      block[0] = rank == 0 ? (char)step : -1;
      MPI_Bcast(block, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
      if (block[0] != (char)step) MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
      for (peer = 1; peer < size; ++peer)
        MPI_Sendrecv(block, LARGE, MPI_CHAR, (rank + peer) % size, 0, other, LARGE, MPI_CHAR,
                     (rank + size - peer) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) printf("all have arrived\\n");
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(CALLS)
    subprocess.run(["mpicc.openmpi", folder / "calls.c", "-o", folder / "calls"], check=True)
    return str(folder / "calls")


def first_run(
    lab: Lab, home: Path, num_ranks: int, *arguments: str
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The run as it is listed, the steps of its record, and what was printed."""
    hosts = ("-n", str(num_ranks), "--hostfile", str(lab.hostfile))
    done = fairlead(lab, home, "run", *hosts, *arguments)
    assert done.stdout == "all have arrived\n", done.stderr
    (run,) = json.loads(fairlead(lab, home, "runs", "--json").stdout)
    return run, load_steps(Path(run["folder"])), done.stderr


def test_a_broadcast_follows_a_schedule_where_the_network_makes_the_mpis_slow(
    lab: Lab, calls: str, tmp_path: Path
) -> None:
    file = tmp_path / "shaped.net.npz"
    apart = ~np.eye(len(lab.hosts), dtype=bool)
    Network(lab.hosts, np.where(apart, 1e-4, 0.0), lab.shaped_Bps()).save(file)

    # On a busy machine a schedule may lose: a call may take longer by chance.
    for attempt in range(4):
        home = tmp_path / str(attempt)
        run, steps, lines = first_run(
            lab, home, 8, "--network", str(file), "--", calls, "bcast", str(80 << attempt)
        )
        tried = load_tried(Path(run["folder"]))
        assert "collectives: taken in this run: by the measured rates schedules take" in lines
        if [one.end for one in tried] == ["used"]:
            break

    (used,) = tried
    assert (used.operation, used.message_bytes, used.end) == ("bcast", 1 << 17, "used"), lines
    assert f"collectives: by schedules bcast of 128 KiB by {used.method}" in lines
    assert "collectives" in steps["end"]["features"]
    assert steps["end"]["schedules"] == [used.model_dump()]
    lever = run["levers"]["collectives"]
    assert lever["is_considered"] and lever["is_taken"]
    assert lever["did"]["schedules"] == [used.model_dump()]
    shown = fairlead(lab, home, "show", run["folder"]).stdout
    assert "what it did: by schedules bcast of 128 KiB" in " ".join(shown.split())


def test_messages_of_a_first_run_are_relayed_where_each_pair_has_a_rate_of_its_own(
    calls: str, tmp_path: Path
) -> None:
    cloud = Scenario.load("pairwise", 4).model_copy(update={"slots": 1})
    with Lab.up(cloud) as lab:
        # On a busy machine the first relayed messages may be late, and the next trial comes later.
        for attempt in range(4):
            home = tmp_path / str(attempt)
            run, steps, lines = first_run(lab, home, 4, "--", calls, "exchange", str(20 << attempt))
            lever = run["levers"]["relays"]
            if lever["is_taken"] and steps["end"]["relays"]["relayed_bytes"] > 0:
                break
        assert processes_in(lab, str(router_program())) == []

    assert "relays: taken in this run: by the measured rates" in lines
    assert "relays" in steps["end"]["features"]
    carried = steps["end"]["relays"]
    assert carried["routers_bytes"] >= carried["relayed_bytes"] > 0
    assert "relays: routers carried" in lines
