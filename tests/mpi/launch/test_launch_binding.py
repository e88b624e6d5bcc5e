# SPDX-License-Identifier: Apache-2.0
"""Placed ranks have the CPUs that the launcher gives to the ranks of a host itself."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS

from fairlead.act.launch import Launcher, LaunchSpec, detect, observe_hosts, run, with_binding
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

pytestmark = pytest.mark.mpi

CLUSTER = Cluster(("alpha", "beta"), (2, 2))
REPORT = (
    "/bin/sh",
    "-c",
    'echo "on $FAKE_HOST $(grep Cpus_allowed_list /proc/self/status)"; sleep 1',
)


@pytest.fixture(params=MPIS)
def launcher(
    request: pytest.FixtureRequest, invented_hosts: None, monkeypatch: pytest.MonkeyPatch
) -> Launcher:
    # Each host has its own name, so that its ranks can be distinguished.
    monkeypatch.setenv("FAKE_UTS", "yes")
    return detect(MPIS[request.param].mpirun)


def bound(launcher: Launcher, placed: LaunchSpec, folder: Path) -> LaunchSpec:
    own = observe_hosts(launcher, dataclasses.replace(placed, placement=None), folder)
    return with_binding(launcher, placed, own, folder)


def cpus_of_host(launcher: Launcher, spec: LaunchSpec, folder: Path) -> dict[str, list[str]]:
    finished = run(launcher.prepare_command(spec, folder), capture=True)
    assert finished.returncode == 0, finished.stderr
    found = defaultdict(list)
    for host, cpus in re.findall(r"on (\S+) Cpus_allowed_list:\s*(\S+)", finished.stdout):
        found[host].append(cpus)
    return {host: sorted(cpus) for host, cpus in found.items()}


@pytest.mark.parametrize("host_of_rank", [(0, 1, 0, 1), (1, 1, 0), (1, 0)])
def test_ranks_bound_to_cores_keep_a_core_each(
    launcher: Launcher, tmp_path: Path, host_of_rank: tuple[int, ...]
) -> None:
    placement = Placement(CLUSTER.hosts, np.array(host_of_rank), "optimize")
    spec = LaunchSpec(
        REPORT, len(host_of_rank), CLUSTER, placement, launcher_args=("--bind-to", "core")
    )

    found = cpus_of_host(launcher, bound(launcher, spec, tmp_path), tmp_path)

    assert {host: len(cpus) for host, cpus in found.items()} == {
        host: len(placement.ranks_on(host)) for host in set(placement.host_names())
    }
    for cpus in found.values():
        assert all(re.fullmatch(r"\d+", one) for one in cpus)
        assert len(set(cpus)) == len(cpus)


def test_options_that_place_ranks_act_in_the_launchers_own_start_only(
    launcher: Launcher, tmp_path: Path
) -> None:
    # A daemon of Open MPI 4.1.4 crashes on an invented host by slot:PE=2, without Fairlead, too.
    options = {("mpich", 4): ("-ppn", "1"), ("openmpi", 5): ("--map-by", "slot:PE=2")}
    option = options.get((launcher.family, launcher.version[0]), ("--map-by", "node"))
    own = LaunchSpec(REPORT, 2, CLUSTER, launcher_args=option)
    by_launcher = cpus_of_host(launcher, own, tmp_path)
    placement = Placement(CLUSTER.hosts, np.array([1, 0]), "optimize")
    placed = LaunchSpec(REPORT, 2, CLUSTER, placement, launcher_args=option)

    found = cpus_of_host(launcher, bound(launcher, placed, tmp_path), tmp_path)

    assert sorted(found) == ["alpha", "beta"]
    (of_each,) = by_launcher["alpha"]
    assert found == {"alpha": [of_each], "beta": [of_each]}
