# SPDX-License-Identifier: Apache-2.0
"""detect(): which launcher is taken, what it is taken for, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.launch.intel import IntelMpi
from fairlead.act.launch.mpich import Mpich
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5
from fairlead.act.launch.program_mpi import ProgramMpi
from fairlead.act.launch.srun import Srun
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster

OPEN_MPI_4 = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
OPEN_MPI_4_RENAMED = "mpirun.openmpi (OpenRTE) 4.1.4\n"
OPEN_MPI_5 = "mpirun (Open MPI) 5.0.11\n"
MPICH_4 = "HYDRA build details:\n    Version:                                 4.0.2\n"
MPICH_BETA = "HYDRA build details:\n    Version:                                 4.2b1\n"
INTEL_2021 = (
    "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n"
    "Copyright 2003-2026, Intel Corporation.\n"
)
INTEL_2019 = (
    "Intel(R) MPI Library for Linux* OS, Version 2019 Update 9 Build 20200923\n"
    "Copyright 2003-2020, Intel Corporation.\n"
)


def make_program(path: Path, says: str, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{more}\ncat <<'END'\n{says}END\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which there is no launcher but those that the test makes."""
    monkeypatch.delenv("FAIRLEAD_MPIRUN", raising=False)
    folder = tmp_path / "bin"
    make_program(folder / "cat", "").unlink()
    (folder / "cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize(
    ("banner", "kind", "version"),
    [
        (OPEN_MPI_4, OpenMpi4, (4, 1, 4)),
        (OPEN_MPI_4_RENAMED, OpenMpi4, (4, 1, 4)),
        (OPEN_MPI_5, OpenMpi5, (5, 0, 11)),
        (MPICH_4, Mpich, (4, 0, 2)),
        (MPICH_BETA, Mpich, (4, 2)),
        (INTEL_2021, IntelMpi, (2021, 18, 1)),
        (INTEL_2019, IntelMpi, (2019, 9)),
    ],
)
def test_launcher_is_identified_by_its_banner(
    banner: str, kind: type, version: tuple[int, ...], tmp_path: Path
) -> None:
    path = make_program(tmp_path / "some where" / "my-launcher", banner)

    launcher = detect(str(path))

    assert type(launcher) is kind
    assert (launcher.version, launcher.path) == (version, path)


def test_argument_comes_before_environment_before_mpirun_before_mpiexec(
    empty_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program(empty_path / "mpiexec", MPICH_4)
    assert detect().path == empty_path / "mpiexec"

    make_program(empty_path / "mpirun", MPICH_4)
    assert detect().path == empty_path / "mpirun"

    monkeypatch.setenv("FAIRLEAD_MPIRUN", str(make_program(tmp_path / "a", MPICH_4)))
    assert detect().path == tmp_path / "a"

    assert detect(str(make_program(tmp_path / "b", MPICH_4))).path == tmp_path / "b"


def test_missing_launcher_is_reported_with_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LaunchError, match="looked for FAIRLEAD_MPIRUN, then mpirun and mpiexec"):
        detect()
    with pytest.raises(LaunchError, match=r"nix: no such program \(from --mpirun\)"):
        detect("nix")
    monkeypatch.setenv("FAIRLEAD_MPIRUN", "/nix")
    with pytest.raises(LaunchError, match=r"/nix: no such program \(from FAIRLEAD_MPIRUN\)"):
        detect()


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("mpirun (Open MPI) 3.1.6\n", "3.1.6"),
        ("", "nothing"),
    ],
)
def test_unknown_launcher_is_shown_with_what_it_says(says: str, shown: str, tmp_path: Path) -> None:
    path = make_program(tmp_path / "mpirun", says)

    with pytest.raises(LaunchError) as caught:
        detect(str(path))

    assert str(path) in str(caught.value)
    assert shown in str(caught.value)
    assert "Open MPI 4, Open MPI 5, MPICH, Intel MPI, srun and flux" in str(caught.value)


def test_launcher_that_never_answers_is_given_up(tmp_path: Path) -> None:
    path = make_program(tmp_path / "mpirun", "", more="/bin/sleep 300")

    with pytest.raises(LaunchError, match=r"mpirun did not end within 0.2 s"):
        detect(str(path), timeout_s=0.2)


@pytest.mark.parametrize(
    ("launcher", "arguments"),
    [
        (OpenMpi4(Path("/m"), (4, 1, 4)), ("--hostfile", "x")),
        (OpenMpi5(Path("/m"), (5, 0, 1)), ("--host", "a:2")),
        (Mpich(Path("/m"), (4, 0, 2)), ("-f", "x")),
        (IntelMpi(Path("/m"), (2021, 18)), ("-hosts-group", "h[0-3]")),
    ],
)
def test_argument_that_would_overrule_the_hosts_is_refused(
    launcher: OpenMpi4 | OpenMpi5 | Mpich | IntelMpi, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    spec = LaunchSpec(("p",), 1, Cluster(("a",), (1,)), launcher_args=arguments)

    with pytest.raises(LaunchError, match="overrules the hosts and the number of ranks"):
        launcher.prepare_command(spec, tmp_path)


def test_unusable_variable_and_missing_program_are_refused(tmp_path: Path) -> None:
    mpich = Mpich(Path("/m"), (4, 0, 2))

    with pytest.raises(LaunchError, match="variable 'A B' is not a usable name"):
        mpich.prepare_command(LaunchSpec(("p",), 1, env={"A B": ""}), tmp_path)
    with pytest.raises(LaunchError, match="no program"):
        mpich.prepare_command(LaunchSpec((), 1), tmp_path)


def test_open_mpi_5_cannot_use_a_folder_with_a_comma_or_colon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    launcher = OpenMpi5(Path("/m"), (5, 0, 11))

    for name in ("a,b", "12:30"):
        with pytest.raises(LaunchError, match="',' or ':'"):
            launcher.prepare_command(LaunchSpec(("p",), 1, Cluster(("a",), (1,))), tmp_path / name)


def test_srun_is_taken_in_a_job_where_there_is_no_mpirun(
    empty_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_program(empty_path / "srun", "slurm 22.05.8\n")
    mpi = ProgramMpi("openmpi", (4, 1, 4), "openmpi-4", Path("/lib/libmpi.so.40"))
    monkeypatch.setattr("fairlead.act.launch._scheduler_launcher.mpi_of_program", {"./cg": mpi}.get)
    monkeypatch.setenv("SLURM_JOB_ID", "7")

    launcher = detect(program=["./cg", "8"])

    assert (type(launcher), launcher.path, launcher.abi) == (Srun, path, "openmpi-4")
    monkeypatch.delenv("SLURM_JOB_ID")
    with pytest.raises(LaunchError, match="no MPI launcher"):
        detect()
