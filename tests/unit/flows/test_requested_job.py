# SPDX-License-Identifier: Apache-2.0
"""Ranks and hosts that the user did not give are the launcher's and the allocation's."""

from __future__ import annotations

from pathlib import Path

import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.srun import Srun
from fairlead.flows.inputs.requested_job import find_job
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
    narrator = RecordingNarrator()
    job = find_job(4, HOSTS, LauncherRequest(), narrator)
    assert (job, narrator.lines) == ((4, HOSTS), [])


def test_without_a_number_of_ranks_the_launcher_is_asked() -> None:
    narrator = RecordingNarrator()
    by = LauncherRequest(arguments=("--oversubscribe",))
    assert find_job(None, HOSTS, by, narrator, start) == (3, HOSTS)
    assert narrator.lines == ["3 ranks on 2 hosts: as many as the launcher starts without -n"]


def test_without_hosts_those_of_the_allocation_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\nb\n")
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))
    narrator = RecordingNarrator()
    job = find_job(4, None, LauncherRequest(), narrator)
    assert (job.cluster.hosts, job.cluster.slots) == (("a", "b"), (2, 2))
    assert narrator.lines == ["4 ranks on 2 hosts of this allocation"]


def test_without_hosts_and_allocation_the_launchers_own_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "hosts"
    file.write_text("a slots=2\nb slots=2\n")
    by = LauncherRequest("mpirun", ("--mca", "orte_default_hostfile", str(file)))
    narrator = RecordingNarrator()
    assert find_job(4, None, by, narrator).cluster == HOSTS
    assert narrator.lines == [f"4 ranks on 2 hosts of {file}"]


def test_a_launcher_that_does_not_start_without_a_number_is_named() -> None:
    def fail(_launcher: Launcher, _spec: LaunchSpec) -> list[str]:
        raise fl.LaunchError("There are not enough slots")

    message = "without -n Open MPI ends with: There are not enough slots"
    with pytest.raises(fl.LaunchError, match=message):
        find_job(None, HOSTS, LauncherRequest(), RecordingNarrator(), fail)


def test_a_scheduler_whose_hosts_do_not_answer_has_a_rank_for_each_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_launcher: Launcher, _spec: LaunchSpec) -> list[str]:
        raise fl.LaunchError("srun: Job step aborted")

    mpi = ProgramMpi("mpich", (4, 0, 2), "mpich-libmpich.so.12", Path("/lib/libmpich.so.12"))
    srun = Srun(Path("/usr/bin/srun"), (22, 5), mpi)
    monkeypatch.setattr("fairlead.flows.inputs.requested_job.detect", lambda *_: srun)
    narrator = RecordingNarrator()

    assert find_job(None, HOSTS, LauncherRequest(), narrator, fail) == (4, HOSTS)

    (line,) = narrator.lines
    assert line.startswith(
        "4 ranks on 2 hosts, one for each slot: the number of ranks is not known"
    )
    assert line.endswith("srun: Job step aborted")
