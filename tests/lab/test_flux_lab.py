# SPDX-License-Identifier: Apache-2.0
"""`fairlead run` in a real Flux instance, by `flux run`.

Ranks with even numbers talk to each other, and so do the others. Flux deals both groups out over
all hosts; each should be in one rack.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from flux_cluster import FluxInstance, flux_instance
from lab_processes import processes_named

import fairlead as fl
from fairlead.lab import Lab, Scenario

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


@pytest.fixture(scope="module")
def flux(small_cloud: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FluxInstance]:
    """An instance with uplinks so slow that it shows even where processes wait for the cores."""
    if shutil.which("flux") is None:
        pytest.skip("no flux on PATH: no package brings it")
    rates = {"nic": "100Mbit/s", "racks": {"count": 2, "uplink": "5Mbit/s"}}
    scenario = Scenario.model_validate(small_cloud.model_dump() | rates | {"name": "flux"})
    folder = tmp_path_factory.mktemp("flux")
    with Lab.up(scenario) as lab, flux_instance(lab, folder, cores=4) as instance:
        latency_s = np.full((len(lab.hosts), len(lab.hosts)), 1e-5)
        fl.Network(lab.hosts, latency_s, lab.shaped_Bps()).save(folder / "given.net.npz")
        groups = Path(__file__).with_name("groups.c")
        subprocess.run(["mpicc.openmpi", groups, "-o", folder / "groups"], check=True)
        yield instance


def hosts_in(printed: str) -> list[str]:
    rows = re.findall(r"^rank (\d+) of 8 on (\w+)", printed, re.MULTILINE)
    return [host for _, host in sorted(rows, key=lambda row: int(row[0]))]


def test_a_program_is_traced_and_then_placed_by_flux_run(flux: FluxInstance) -> None:
    ranks = "--mpirun flux -H h0:2,h1:2,h2:2,h3:2 -n 8"
    given = "--network given.net.npz --traffic groups.traffic.npz --run-dir record"

    traced = flux.run(["sh", "-c", f"fairlead trace {ranks} -o groups.traffic.npz -- ./groups"])
    ran = flux.run(["sh", "-c", f"fairlead run {ranks} {given} -- ./groups"])

    assert traced.returncode == 0, traced.stderr
    assert "switched off" not in traced.stderr
    assert ran.returncode == 0, ran.stderr
    hosts = hosts_in(ran.stdout)
    placement = json.loads((flux.folder / "record" / "placement.json").read_text())
    assert hosts == [placement["hosts"][host] for host in placement["host_of_rank"]], ran.stderr
    assert not {*hosts[0::2]} & {*hosts[1::2]}, ran.stderr


IN_AN_INSTANCE = """
from fairlead.act.launch import detect, find_allocation
from fairlead.act.plan.relay import new_key
from fairlead.act.relay.routers import run_routers

cluster = find_allocation(lambda: "")
print("slots", *cluster.slots)
with run_routers(detect("flux"), cluster.hosts, new_key()) as places:
    print("routers on", *(place.host for place in places))
"""


def test_hosts_are_those_of_the_instance_and_routers_start_without_ssh(flux: FluxInstance) -> None:
    done = flux.run([sys.executable, "-c", IN_AN_INSTANCE])

    assert done.stdout == "slots 4 4 4 4\nrouters on h0 h1 h2 h3\n", done.stderr
    assert not processes_named("fairlead-router")
