# SPDX-License-Identifier: Apache-2.0
"""Launchers that take one list of CPUs for all hosts get it in their own form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch import (
    BindingLostError,
    Launcher,
    LaunchSpec,
    RankCpus,
    with_chosen_cpus,
)
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

MPICH = Mpich(Path("/m"), (4, 0, 2))
INTEL = IntelMpi(Path("/m"), (2021, 18, 1))
CLUSTER = Cluster(("h0", "h1"), (2, 2))


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HYDRA_LAUNCHER", "SLURM_JOB_ID", "SLURM_HET_SIZE", "SLURM_JOB_NODELIST"):
        monkeypatch.delenv(name, raising=False)


def spec_of(lists: str, *host_of_rank: int) -> LaunchSpec:
    placement = Placement(CLUSTER.hosts, np.array(host_of_rank or (0, 0, 1, 1)), "given")
    cpus = RankCpus(tuple(lists.split()), by_program=False)
    user = ("-bind-to", "core")
    return LaunchSpec(("p",), 4, CLUSTER, placement, launcher_args=user, cpus=cpus)


@pytest.mark.parametrize(
    ("launcher", "lists", "words"),
    [
        (MPICH, "5 2 5 2", ["-bind-to", "user:5,2"]),
        (MPICH, "0-1,4 2 0-1,4 2", ["-bind-to", "user:0+1+4,2"]),
        (INTEL, "5 2 5 2", ["-genv", "I_MPI_PIN_PROCESSOR_LIST", "5,2"]),
        (INTEL, "0-1,4 2 0-1,4 2", ["-genv", "I_MPI_PIN_DOMAIN", "[0x13,0x4]"]),
    ],
)
def test_list_replaces_the_users_binding(
    launcher: Launcher, lists: str, words: list[str], tmp_path: Path
) -> None:
    command = launcher.prepare_command(spec_of(lists), tmp_path)

    assert " ".join(words) in " ".join(command)
    assert "core" not in command


@pytest.mark.parametrize("launcher", [MPICH, INTEL])
def test_lists_that_differ_by_host_are_refused(launcher: Launcher, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="takes one list of CPUs for all hosts"):
        launcher.prepare_command(spec_of("5 2 2 5"), tmp_path)


def test_hydra_begins_its_list_anew_at_each_line_of_a_host(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="only neighbouring ranks"):
        MPICH.prepare_command(spec_of("5 5 2 2", 0, 1, 0, 1), tmp_path)


def test_chosen_cpus_are_observed_and_else_asked_for_by_each_rank() -> None:
    launcher = OpenMpi4(Path("mpirun"), (4, 1, 4))
    placed = spec_of("0 1 0 1")

    def follows(by_program: bool) -> list[bool]:
        tried: list[bool] = []

        def observe(spec: LaunchSpec) -> list[str]:
            assert spec.cpus is not None
            tried.append(spec.cpus.by_program)
            has_them = spec.cpus.by_program is by_program
            return ["0,1", "2", "2", "0-1"] if has_them else ["0-2"] * 4

        lists = ["0-1", "2", "2", "0-1"]
        found = with_chosen_cpus(launcher, placed, lists, Path("/nowhere"), observe)
        assert found.cpus == RankCpus(tuple(lists), by_program=by_program)
        return tried

    assert follows(by_program=False) == [False]
    assert follows(by_program=True) == [False, True]


def test_cpus_that_a_host_has_lost_are_named() -> None:
    launcher = OpenMpi4(Path("mpirun"), (4, 1, 4))
    with pytest.raises(BindingLostError, match="rank 1 has CPUs 0, and not 1"):
        with_chosen_cpus(
            launcher, spec_of("0 1 0 1"), ["0", "1", "0", "1"], Path("/nowhere"),
            lambda spec: ["0"] * 4,
        )  # fmt: skip
