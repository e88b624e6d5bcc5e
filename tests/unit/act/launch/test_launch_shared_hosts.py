# SPDX-License-Identifier: Apache-2.0
"""Launchers that share hosts with others do not all bind to the first cores."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.launch import LaunchSpec
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.model.cluster import Cluster

CLUSTER = Cluster.uniform(["h0", "h1"], 2)
LAUNCHERS = [OpenMpi4(Path("mpirun"), (4, 1, 4)), OpenMpi5(Path("mpirun"), (5, 0, 11))]


@pytest.fixture(autouse=True)
def as_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=["4", "5"])
def test_open_mpi_binds_no_rank_of_a_job_that_shares_its_hosts(
    launcher: OpenMpi4 | OpenMpi5, tmp_path: Path
) -> None:
    alone = launcher.prepare_command(LaunchSpec(("app",), 4, CLUSTER), tmp_path)
    sharing = launcher.prepare_command(
        LaunchSpec(("app",), 4, CLUSTER, shares_hosts=True), tmp_path
    )

    assert sharing == [*alone[:-1], "--bind-to", "none", "app"]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=["4", "5"])
def test_binding_that_the_user_asks_for_stays(
    launcher: OpenMpi4 | OpenMpi5, tmp_path: Path
) -> None:
    spec = LaunchSpec(
        ("app",), 4, CLUSTER, launcher_args=("--bind-to", "socket"), shares_hosts=True
    )

    assert launcher.prepare_command(spec, tmp_path)[-3:] == ["--bind-to", "socket", "app"]


def test_mpich_binds_nothing_by_itself(tmp_path: Path) -> None:
    launcher = Mpich(Path("mpiexec"), (4, 0, 2))
    spec = LaunchSpec(("app",), 4, CLUSTER, shares_hosts=True)

    assert launcher.prepare_command(spec, tmp_path)[-3:] == ["-n", "4", "app"]
