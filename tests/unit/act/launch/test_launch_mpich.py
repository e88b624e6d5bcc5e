# SPDX-License-Identifier: Apache-2.0
"""The files of hosts that MPICH's launcher gets."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch import LaunchSpec, RankCpus, parse_hostfile
from fairlead.act.launch.mpich import Mpich
from fairlead.model.cluster import Cluster, Login
from fairlead.model.placement import Placement

MPICH = Mpich(Path("/m"), (4, 0, 2))
CLUSTER = Cluster(("h0", "h1"), (2, 2), bindings={"h0": "user:0,1"}, logins={"h0": Login("me")})
PLACED = LaunchSpec(("p",), 4, CLUSTER, Placement(CLUSTER.hosts, np.array([1, 0, 0, 1])))


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HYDRA_LAUNCHER", "SLURM_JOB_ID", "SLURM_HET_SIZE", "SLURM_JOB_NODELIST"):
        monkeypatch.delenv(name, raising=False)


def hosts_of(spec: LaunchSpec, folder: Path) -> str:
    command = MPICH.prepare_command(spec, folder)
    return Path(command[command.index("-f") + 1]).read_text()


def test_a_binding_of_the_users_hostfile_stays_with_its_host(tmp_path: Path) -> None:
    assert hosts_of(PLACED, tmp_path) == "h1:1\nh0:2 binding=user:0,1 user=me\nh1:1\n"


def test_cpus_that_were_chosen_replace_it(tmp_path: Path) -> None:
    together = Placement(CLUSTER.hosts, np.array([0, 0, 1, 1]))
    cpus = RankCpus(("0", "1", "0", "1"), by_program=False)
    spec = dataclasses.replace(PLACED, placement=together, cpus=cpus)

    assert hosts_of(spec, tmp_path) == "h0:2 user=me\nh1:2\n"


# As mpiexec of MPICH 4.0.2 does with -hosts a,b,a and with a file of these lines.
@pytest.mark.parametrize("hosts", ["h0:1\nh1:1\n", "h0:1\nh1:2\nh0:1\n", "h1\nh0:3\n"])
def test_hosts_are_written_in_the_order_and_as_often_as_they_were_named(
    hosts: str, tmp_path: Path
) -> None:
    named = parse_hostfile(hosts, "--host")
    # More slots were seen to be used, as Hydra goes through the lines again for more ranks.
    roomy = dataclasses.replace(named, slots=(9,) * named.num_hosts, bare_hosts=frozenset())

    lines = [line if ":" in line else f"{line}:1" for line in hosts.splitlines()]
    assert hosts_of(LaunchSpec(("p",), 12, roomy), tmp_path).splitlines() == lines
