# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` as a user has it: an empty cache, no files, no options; and where the ranks ran.

Four ranks talk to each other, and so do the other four. The launcher deals both groups out over all
hosts, across the slow uplinks; two hosts hold a group, but only of one rack should they be.

The default budget is tested once; elsewhere a larger one leaves a busy machine the time to decide.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from busy_machine import measured_until
from lab_processes import RUN_TWICE, fairlead

from fairlead.decide.search import default_budget_s
from fairlead.flows.inputs.binding import BINDING_S
from fairlead.lab import Lab, Scenario
from fairlead.units import format_duration
from fairlead.watch.history import History
from fairlead.watch.history_store import forget, recall

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

PATIENT = ("--budget", "60s")

GROUPS = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char out[4][20000], in[4][20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  char host[256];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  gethostname(host, sizeof host);
  for (int step = 0; step < 30; ++step) {
    MPI_Request requests[8];
    int count = 0;
    for (int peer = rank % 2; peer < 8; peer += 2) {
      if (peer == rank) continue;
      MPI_Irecv(in[peer / 2], 20000, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[count++]);
      MPI_Isend(out[peer / 2], 20000, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }
  usleep(600000); /* Longer than what starting may add to a run. */
  printf("rank %d on %s\\n", rank, host);
  MPI_Finalize();
  return 0;
}
"""

GROUPS_BY_COLLECTIVES = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static char out[20000], in[4][20000];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  char host[256];
  MPI_Comm group;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
  gethostname(host, sizeof host);
  for (int step = 0; step < 30; ++step)
    MPI_Allgather(out, 20000, MPI_CHAR, in, 20000, MPI_CHAR, group);
  usleep(600000); /* Longer than what starting may add to a run. */
  printf("rank %d on %s\\n", rank, host);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def lab(small_cloud: Scenario) -> Iterator[Lab]:
    """So slow and uneven that it shows even where processes wait for the cores."""
    rates = {"nic": "100Mbit/s", "racks": {"count": 2, "uplink": "5Mbit/s"}}
    with Lab.up(Scenario.model_validate(small_cloud.model_dump() | rates)) as up:
        yield up


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(GROUPS, tmp_path_factory.mktemp("groups"))


def compiled(source: str, folder: Path) -> str:
    (folder / "groups.c").write_text(source)
    program = folder / "groups"
    subprocess.run(["mpicc.openmpi", folder / "groups.c", "-o", program], check=True)
    return str(program)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def run(lab: Lab, home: Path, program: str, *options: str) -> tuple[list[str], str]:
    """Host of each rank, in their order, and what was printed on stderr."""
    hostfile = str(lab.hostfile)
    command = (*RUN_TWICE, *options, "-n", "8", "--hostfile", hostfile, "--", program)
    done = fairlead(lab, home, *command)
    rows = sorted(line.split() for line in done.stdout.splitlines() if line.startswith("rank "))
    return [row[3] for row in rows], done.stderr


def racks_of(lab: Lab, hosts: list[str]) -> set[int]:
    """Racks of these hosts: a pair of one rack is as fast as a pair can be."""
    shaped_Bps = lab.shaped_Bps()
    is_near = shaped_Bps >= np.max(shaped_Bps[np.isfinite(shaped_Bps)])
    first_near = np.argmax(is_near | np.eye(len(lab.hosts), dtype=bool), axis=1)
    return {int(first_near[lab.hosts.index(host)]) for host in hosts}


def test_run_measures_for_itself_and_puts_each_group_into_one_rack(
    lab: Lab, tmp_path: Path, groups: str
) -> None:
    homes = (tmp_path / str(number) for number in count())
    hosts, output = measured_until(
        lambda found: "placed by optimize" in found[1], lambda: run(lab, next(homes), groups)
    )

    assert len(racks_of(lab, hosts[0::2])) == 1, output
    assert len(racks_of(lab, hosts[1::2])) == 1, output
    assert "placed by optimize" in output
    assert "rehearsals" in output
    budget_s = default_budget_s(len(lab.hosts)) + BINDING_S
    assert f"(budget {format_duration(budget_s)})" in output


def test_groups_that_talk_by_collectives_only_are_put_into_one_rack_each(
    lab: Lab, tmp_path: Path
) -> None:
    program = compiled(GROUPS_BY_COLLECTIVES, tmp_path)

    hosts, output = run(lab, tmp_path, program, *PATIENT, "--tune", "never")

    assert len(racks_of(lab, hosts[0::2])) == 1, output
    assert len(racks_of(lab, hosts[1::2])) == 1, output
    assert "placed by optimize" in output


def test_a_second_run_takes_the_same_placement_without_deciding_anew(
    lab: Lab, home: Path, groups: str
) -> None:
    first, _ = run(lab, home, groups, *PATIENT)
    second, output = run(lab, home, groups, *PATIENT)
    assert second == first
    assert "decision: reusing that of an earlier run" in output
    assert "rehearsing" not in output
    assert "probing" not in output


def test_a_dry_run_says_what_it_would_do_and_starts_nothing(
    lab: Lab, home: Path, groups: str
) -> None:
    hosts, output = run(lab, home, groups, *PATIENT, "--dry-run", "--json")
    assert hosts == []
    facts = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    assert facts["budget_s"] == 60
    assert facts["kept_launcher_placement"] is False
    assert len(racks_of(lab, facts["host_of_rank"][0::2])) == 1


def test_times_are_printed_and_kept_and_a_placement_that_proves_slower_is_dropped(
    lab: Lab, home: Path, groups: str
) -> None:
    hosts, output = run(lab, home, groups, *PATIENT)
    (file,) = (home / "XDG_STATE_HOME" / "fairlead" / "history").glob("*.json")
    history = recall(file, History.load(file))
    traced, placed = history.runs[0], history.runs[-1]
    assert traced.is_traced and traced.host_of_rank is None
    assert placed.host_of_rank == tuple(hosts) and placed.predicted_s is not None
    launcher_s = history.launcher_s()
    assert launcher_s is not None
    assert times_in(output) == [
        format_duration(seconds) for seconds in (placed.seconds, placed.predicted_s, launcher_s)
    ]

    # As if three runs of the launcher had taken a millisecond; two were placed so far.
    fast = (traced.model_copy(update={"seconds": 1e-3}),) * 3
    slow = (placed.model_copy(update={"seconds": 9.0}),) * 2
    forget(file)
    history.model_copy(update={"runs": (*fast, *slow)}).save(file)
    again, output = run(lab, home, groups, *PATIENT)
    assert again == hosts
    assert times_in(output)[2] == format_duration(1e-3)
    assert "this placement (not the method) proved slower (3 runs of" in output

    others, output = run(lab, home, groups, *PATIENT)
    assert others != hosts, output


def times_in(output: str) -> list[str]:
    """How long the run took, was predicted to take, and took on the launcher's placement."""
    pattern = r"fairlead: took (.*), predicted (.*); on the launcher's placement ([^:;\n]*)"
    found = re.search(pattern, output)
    assert found is not None, output
    return list(found.groups())
