# SPDX-License-Identifier: Apache-2.0
"""`fairlead watch` during a program's run, in an emulated cloud that changes meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launchers import wait_until

import fairlead as fl
from fairlead.files.run_directory import MEASURED_AGAIN, RECORD
from fairlead.lab import Lab, Scenario
from fairlead.watch.stale import STALE

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

PROGRAM = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sleep(600);
  MPI_Finalize();
  return 0;
}
"""


MOST_OBSERVATIONS = 40
"""Each takes about a second."""


def has_started(folder: Path) -> bool:
    record = folder / RECORD
    return record.exists() and '"step": "start"' in record.read_text()


def test_degraded_host_makes_the_plan_of_a_running_program_stale(tmp_path: Path) -> None:
    (tmp_path / "waits.c").write_text(PROGRAM)
    program = tmp_path / "waits"
    subprocess.run(["mpicc.openmpi", tmp_path / "waits.c", "-o", program], check=True)
    sent = np.kron(1e6 * (np.ones((2, 2)) - np.eye(2)), np.ones((2, 2)))
    fl.Traffic(sent, sent / 1000).save(tmp_path / "app.traffic.npz")
    home = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    fairlead, folder = [sys.executable, "-m", "fairlead"], tmp_path / "run"
    # Rates that a busy machine carries: else all pairs seem to be slower than planned.
    with Lab.up(Scenario.load("flat", 4).slower(10)) as lab:
        env = {**os.environ, **home, "FAIRLEAD_MPIRUN": "mpirun.openmpi", **lab.env}
        start = [*fairlead, "run", "-n", "4", "--hostfile", str(lab.hostfile), "--run-dir",
                 str(folder), "--traffic", str(tmp_path / "app.traffic.npz"), "--",
                 str(program)]  # fmt: skip
        with subprocess.Popen(lab.command(start), env=env, stderr=subprocess.PIPE) as running:
            wait_until(lambda: has_started(folder) or running.poll() is not None)
            # What the plan measured on a busy machine may be wrong, and a pair then seem faster.
            planned = fl.Network(lab.hosts, np.full((4, 4), 1e-5), lab.shaped_Bps())
            planned.save(folder / MEASURED_AGAIN)
            watch = [*fairlead, "watch", str(folder), "--every", "300ms", "--json"]
            with subprocess.Popen(
                lab.command(watch), env=env, stdout=subprocess.PIPE, text=True
            ) as watching:
                assert watching.stdout is not None
                states = [json.loads(watching.stdout.readline()) for _ in range(4)]
                for other in ("h0", "h2", "h3"):
                    lab.degrade("h1", other, 0.2)
                    lab.degrade(other, "h1", 0.2)
                while not states[-1]["is_stale"] and len(states) < MOST_OBSERVATIONS:
                    states.append(json.loads(watching.stdout.readline()))
                watching.terminate()
            running.terminate()

    assert not states[3]["is_stale"]
    assert states[-1]["is_stale"], states[-1]
    assert all("h1" in (pair["src"], pair["dst"]) for pair in states[-1]["drifted"])
    assert (folder / STALE).exists()
