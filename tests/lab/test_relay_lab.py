# SPDX-License-Identifier: Apache-2.0
"""`fairlead run --relay` in an emulated cloud where h0 -> h1 has a tenth of the others' rate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from lab_processes import processes_named

from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

SOURCE = Path(__file__).parents[1] / "mpi" / "programs" / "relayed.c"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    cloud = {"name": "relay", "hosts": 4, "slots": 1, "nic": "400Mbit/s"}
    with Lab.up(Scenario.model_validate(cloud)) as up:
        up.degrade("h0", "h1", 0.1)
        yield up


@pytest.fixture
def network(lab: Lab, tmp_path: Path) -> Path:
    rates = lab.shaped_Bps()
    latency_s = np.where(np.eye(len(lab.hosts)), 0.0, 1e-4)
    Network(lab.hosts, latency_s, rates).save(tmp_path / "cloud.net.npz")
    return tmp_path / "cloud.net.npz"


def test_a_program_runs_with_routers_that_end_with_it(
    lab: Lab, network: Path, tmp_path: Path
) -> None:
    program = tmp_path / "relayed"
    subprocess.run(["mpicc.openmpi", SOURCE, "-pthread", "-o", program], check=True)
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    env = {**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"}

    def fairlead(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fairlead", *words]
        return lab.run(command, env=env, capture_output=True, text=True)

    done = fairlead(
        *("run", "--relay", "--relay-rule", "mcm"),
        *("-n", "4", "--hostfile", str(lab.hostfile)),
        *("--network", str(network), "--method", "launcher"),
        *("--", str(program), "rounds", "30"),
    )

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ok"), done.stderr
    assert "a router on each of 4 hosts" in done.stderr
    assert "no message is relayed" not in done.stderr
    assert processes_named("fairlead-router") == []
    told = json.loads(fairlead("relay", "status", "--json").stdout)
    paths = {tuple(route["path"]): route["bandwidth_Bps"] for route in told["routes"]}
    assert paths["h0", "h2", "h1"] > 4 * paths["h0", "h1"]
    assert told["rule"] == "mcm"
    assert told["routers"] == dict.fromkeys(lab.hosts)
