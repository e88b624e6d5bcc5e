# SPDX-License-Identifier: Apache-2.0
"""Launchers start ranks on the hosts that an allocation's variables name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS, PROGRAMS

from fairlead.act.launch import Launcher, LaunchSpec, detect, run
from fairlead.flows.request import LauncherRequest, find_hosts
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

pytestmark = pytest.mark.mpi

WHERE = str(PROGRAMS / "where.sh")

# The variables of a job of two components, of one host each.
HETEROGENEOUS = {
    "SLURM_JOB_ID": "7",
    "SLURM_JOBID": "7",
    "SLURM_HET_SIZE": "2",
    "SLURM_JOB_NODELIST": "alpha",
    "SLURM_NODELIST": "alpha",
    "SLURM_JOB_NUM_NODES": "1",
    "SLURM_NNODES": "1",
    "SLURM_TASKS_PER_NODE": "2",
    "SLURM_JOB_CPUS_PER_NODE": "2",
    "SLURM_JOB_NODELIST_HET_GROUP_0": "alpha",
    "SLURM_TASKS_PER_NODE_HET_GROUP_0": "2",
    "SLURM_JOB_NODELIST_HET_GROUP_1": "beta",
    "SLURM_TASKS_PER_NODE_HET_GROUP_1": "2",
}


@pytest.fixture(params=MPIS)
def launcher(request: pytest.FixtureRequest, invented_hosts: None) -> Launcher:
    return detect(MPIS[request.param].mpirun)


def hosts_by(launcher: Launcher, *arguments: str) -> Cluster:
    return find_hosts(None, LauncherRequest(str(launcher.path), arguments))


def hosts_of_ranks(
    launcher: Launcher, cluster: Cluster, folder: Path, placement: Placement | None = None
) -> list[str]:
    # Open MPI 5 binds each rank to a core, and refuses more ranks on a host than it has cores.
    spec = LaunchSpec((WHERE,), sum(cluster.slots), cluster, placement)
    finished = run(launcher.prepare_command(spec, folder), capture=True)
    assert finished.returncode == 0, finished.stderr
    found = re.findall(r"rank (\d+) (\S+) [0-9a-f]*\.", finished.stdout)
    return [host for _, host in sorted(found, key=lambda line: int(line[0]))]


def test_all_components_of_a_heterogeneous_job_get_ranks(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in HETEROGENEOUS.items():
        monkeypatch.setenv(name, value)
    cluster = hosts_by(launcher)
    placement = Placement(cluster.hosts, np.array([1, 0, 0, 1]))

    assert sorted(hosts_of_ranks(launcher, cluster, tmp_path)) == ["alpha"] * 2 + ["beta"] * 2
    assert hosts_of_ranks(launcher, cluster, tmp_path, placement) == placement.host_names()


def test_hosts_come_from_the_file_of_pbs(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("alpha\nalpha\nbeta\n")
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))

    ranks = hosts_of_ranks(launcher, hosts_by(launcher), tmp_path)

    assert ranks == ["alpha", "alpha", "beta"]


def test_hosts_come_from_the_launchers_own_variable(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "hosts"
    is_hydra = launcher.family == "mpich"
    file.write_text("beta:1\nalpha:2\n" if is_hydra else "beta slots=1\nalpha slots=2\n")
    variables = {4: "OMPI_MCA_orte_default_hostfile", 5: "PRTE_MCA_prte_default_hostfile"}
    name = "HYDRA_HOST_FILE" if is_hydra else variables[launcher.version[0]]
    monkeypatch.setenv(name, str(file))

    ranks = hosts_of_ranks(launcher, hosts_by(launcher), tmp_path)

    assert ranks == ["beta", "alpha", "alpha"]


@pytest.mark.parametrize("by", ["the user's file", "an argument"])
@pytest.mark.parametrize("mpi", ["openmpi-4", "openmpi-5"])
def test_hosts_come_from_open_mpis_default_hostfile(
    invented_hosts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mpi: str, by: str
) -> None:
    launcher = detect(MPIS[mpi].mpirun)
    runtime, name = ("openmpi", "orte") if mpi == "openmpi-4" else ("prte", "prte")
    name += "_default_hostfile"
    file = tmp_path / "hosts"
    file.write_text("beta slots=1\nalpha slots=2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    if by == "the user's file":
        (tmp_path / f".{runtime}").mkdir()
        (tmp_path / f".{runtime}" / "mca-params.conf").write_text(f"{name} = {file}\n")
    arguments = ("--mca", name, str(file)) if by == "an argument" else ()

    cluster = hosts_by(launcher, *arguments)

    # The launcher by itself, with neither hosts nor a number of ranks.
    alone = run([str(launcher.path), *arguments, WHERE], capture=True)
    ranks = [host for _, host in sorted(re.findall(r"rank (\d+) (\S+) [0-9a-f]*\.", alone.stdout))]
    assert ranks == ["beta", "alpha", "alpha"]
    assert hosts_of_ranks(launcher, cluster, tmp_path) == ranks
