# SPDX-License-Identifier: Apache-2.0
"""Ranks and hosts that the user did not give are the launcher's and the allocation's."""

from __future__ import annotations

from pathlib import Path

import pytest
from narrators import Told

import fairlead as fl
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.flows.inputs.requested_job import requested_job
from fairlead.flows.request import LauncherRequest

HOSTS = fl.Cluster(("a", "b"), (2, 2))


@pytest.fixture(autouse=True)
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher that is Open MPI by its banner."""
    program = tmp_path / "mpirun"
    program.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


def start(_launcher: Launcher, spec: LaunchSpec) -> list[str]:
    """Three ranks, where the launcher gets the user's option and no number."""
    assert (spec.num_ranks, spec.launcher_args) == (None, ("--oversubscribe",))
    return ["a", "b", "a"]


def test_what_the_user_gave_is_taken_without_a_word() -> None:
    told = Told()
    job = requested_job(4, HOSTS, LauncherRequest(), told)
    assert (job, told.lines) == ((4, HOSTS), [])


def test_without_a_number_of_ranks_the_launcher_is_asked() -> None:
    told = Told()
    by = LauncherRequest(arguments=("--oversubscribe",))
    assert requested_job(None, HOSTS, by, told, start) == (3, HOSTS)
    assert told.lines == ["3 ranks on 2 hosts as the launcher starts without -n"]


def test_without_hosts_those_of_the_allocation_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\nb\n")
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))
    told = Told()
    job = requested_job(4, None, LauncherRequest(), told)
    assert (job.cluster.hosts, job.cluster.slots) == (("a", "b"), (2, 2))
    assert told.lines == ["4 ranks on 2 hosts of this allocation"]


def test_a_launcher_that_does_not_start_without_a_number_is_named() -> None:
    def fail(_launcher: Launcher, _spec: LaunchSpec) -> list[str]:
        raise fl.LaunchError("There are not enough slots")

    message = "without -n Open MPI ends with: There are not enough slots"
    with pytest.raises(fl.LaunchError, match=message):
        requested_job(None, HOSTS, LauncherRequest(), Told(), fail)
