# SPDX-License-Identifier: Apache-2.0
"""srun's command lines, and the MPI of a program; tests/lab/test_srun_lab.py starts them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch.launch_spec import LaunchSpec, RankCpus
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.srun import Srun
from fairlead.act.launch.srun_mpi import fitting_mpi_type
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster, GivenHosts
from fairlead.model.placement import Placement

OPEN_MPI_4 = ProgramMpi("openmpi", (4, 1, 4), "openmpi-4", Path("/lib/libmpi.so.40"))
OPEN_MPI_5 = ProgramMpi("openmpi", (5, 0, 11), "openmpi-5", Path("/lib/libmpi.so.40"))
MPICH = ProgramMpi("mpich", (4, 0, 2), "mpich-libmpich.so.12", Path("/lib/libmpich.so.12"))
SRUN = Srun(Path("/usr/bin/srun"), (22, 5), OPEN_MPI_4, "pmix")
CLUSTER = Cluster(("h0", "h1"), (3, 1), source="Slurm's allocation", given=GivenHosts())
PLACED = LaunchSpec(
    ("./cg", "8"), 4, CLUSTER, Placement(CLUSTER.hosts, np.array([1, 0, 0, 0]), method="cyclic")
)


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_STEP_ID", "SLURM_MPI_TYPE", "SLURM_EXPORT_ENV", "SLURM_HET_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "h[0-1]")


def command(spec: LaunchSpec, folder: Path, srun: Srun = SRUN) -> list[str]:
    return srun.prepare_command(spec, folder)[1:]


def test_placement_is_a_line_for_each_rank(tmp_path: Path) -> None:
    words = command(PLACED, tmp_path)

    file = words[3].removeprefix("--nodelist=")
    assert Path(file).read_text() == "h1\nh0\nh0\nh0\n"
    assert words == [
        "--mpi=pmix", "--distribution=arbitrary", "--nodes=2", f"--nodelist={file}", "--ntasks=4",
        "./cg", "8",
    ]  # fmt: skip


def test_hosts_of_the_allocation_are_left_to_slurm(tmp_path: Path) -> None:
    own = dataclasses.replace(PLACED, placement=None, num_ranks=None)
    assert command(own, tmp_path) == ["--mpi=pmix", "./cg", "8"]

    named = dataclasses.replace(own, cluster=dataclasses.replace(CLUSTER, given=None))
    assert command(named, tmp_path)[1:3] == ["--nodes=2", "--nodelist=h0,h1"]


def test_variables_reach_the_program_and_not_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = dataclasses.replace(PLACED, env={"LD_PRELOAD": "/ours.so", "A": "x,y 'z'"})
    assert command(spec, tmp_path)[-5:] == [
        "/usr/bin/env", "LD_PRELOAD=/ours.so", "A=x,y 'z'", "./cg", "8"
    ]  # fmt: skip

    monkeypatch.setenv("SLURM_EXPORT_ENV", "ALL,LD_PRELOAD=/users.so")
    assert "LD_PRELOAD=/ours.so:/users.so" in command(spec, tmp_path)

    given = dataclasses.replace(spec, launcher_args=("--export=NONE,LD_PRELOAD=/given.so",))
    assert "LD_PRELOAD=/ours.so:/given.so" in command(given, tmp_path)

    odd = dataclasses.replace(spec, program=("./a=b",))
    assert command(odd, tmp_path)[-5:] == ["/bin/sh", "-c", 'exec "$@"', "sh", "./a=b"]


def test_own_programs_share_cpus_and_leave_standard_input_to_the_first_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = dataclasses.replace(PLACED, is_tool=True)
    assert command(tool, tmp_path)[:3] == ["--overlap", "--input=0", "--quit-on-interrupt"]

    older = dataclasses.replace(SRUN, slurm_version=(20, 2))
    assert "--overlap" not in command(tool, tmp_path, older)

    monkeypatch.setenv("SLURM_STEP_ID", "0")  # The step that this runs in has the job's CPUs.
    assert command(PLACED, tmp_path)[0] == "--overlap"


def test_jobs_on_the_same_hosts_take_their_own_cpus_alone(tmp_path: Path) -> None:
    assert command(dataclasses.replace(PLACED, shares_hosts=True), tmp_path)[0] == "--exact"


def test_type_that_the_user_chose_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = dataclasses.replace(PLACED, launcher_args=("--mpi=pmi2",))
    assert [word for word in command(chosen, tmp_path) if "--mpi" in word] == ["--mpi=pmi2"]

    monkeypatch.setenv("SLURM_MPI_TYPE", "pmi2")
    assert "--mpi=pmix" not in command(PLACED, tmp_path)


def test_placement_replaces_the_distribution_of_the_user(tmp_path: Path) -> None:
    spec = dataclasses.replace(PLACED, launcher_args=("-m", "cyclic", "--ntasks-per-node=2", "-l"))
    words = command(spec, tmp_path)
    assert "cyclic" not in words
    assert words[-3:] == ["-l", "./cg", "8"]


def test_cpus_are_one_list_for_all_hosts(tmp_path: Path) -> None:
    lists = ("0", "0", "1,4-5", "2")
    spec = dataclasses.replace(PLACED, cpus=RankCpus(lists, by_program=False))
    assert "--cpu-bind=mask_cpu:0x1,0x32,0x4" in command(spec, tmp_path)

    other = dataclasses.replace(spec, cpus=RankCpus(("3", *lists[1:]), by_program=False))
    with pytest.raises(LaunchError, match="one list of CPUs for all hosts"):
        command(other, tmp_path)

    asked = dataclasses.replace(spec, cpus=RankCpus(("3", *lists[1:]), by_program=True))
    words = command(asked, tmp_path)
    assert "--cpu-bind=none" in words
    assert "FAIRLEAD_CPUS=3/0/1,4-5/2" in words


def test_number_of_ranks_among_the_arguments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="'ntasks' overrules"):
        command(dataclasses.replace(PLACED, launcher_args=("--ntasks=9",)), tmp_path)


def test_heterogeneous_job_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_HET_SIZE", "2")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "h0")
    with pytest.raises(LaunchError, match="heterogeneous job by itself; start"):
        command(PLACED, tmp_path)


def test_srun_outside_a_job_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID")
    with pytest.raises(LaunchError, match="no job of Slurm"):
        Srun.recognise(Path("/usr/bin/srun"), "slurm-wlm 22.05.8\n")
    assert Srun.recognise(Path("/usr/bin/mpirun"), "mpirun (Open MPI) 4.1.4\n") is None


@pytest.mark.parametrize(
    ("mpi", "is_of_program", "default", "offered", "chosen"),
    [
        (OPEN_MPI_4, True, "none", ["none", "pmi2", "pmix"], "pmix"),
        (OPEN_MPI_4, True, "none", ["none", "pmi2"], "pmi2"),
        (OPEN_MPI_5, True, "none", ["none", "pmi2"], None),
        (OPEN_MPI_5, True, "pmi2", ["none", "pmi2", "pmix"], "pmix"),
        (OPEN_MPI_4, True, "pmix_v3", ["none", "pmi2", "pmix"], None),
        (OPEN_MPI_4, False, "pmi2", ["none", "pmi2", "pmix"], None),
        (MPICH, True, "none", ["none", "pmi2", "pmix"], "pmi2"),
        (MPICH, True, "cray_shasta", ["none", "pmi2", "cray_shasta"], None),
    ],
)
def test_type_fits_the_program_s_mpi_and_the_site(
    mpi: ProgramMpi, is_of_program: bool, default: str, offered: list[str], chosen: str | None
) -> None:
    assert fitting_mpi_type(mpi, is_of_program, default, offered) == chosen
