# SPDX-License-Identifier: Apache-2.0
"""The command lines of Intel MPI's launcher; that they do what they say is tried in tests/mpi."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fairlead.act.launch import LaunchSpec, RankCpus
from fairlead.act.launch.intel import IntelMpi
from fairlead.errors import LaunchError
from fairlead.model.cluster import Cluster, GivenHosts, Login
from fairlead.model.placement import Placement

INTEL = IntelMpi(Path("/m"), (2021, 18, 1))
CLUSTER = Cluster(("h0", "h1"), (2, 2))
PLACEMENT = Placement(CLUSTER.hosts, np.array([0, 1, 1, 0]), "given")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "I_MPI_PERHOST",
        "I_MPI_HYDRA_BOOTSTRAP",
        "HYDRA_LAUNCHER",
        "SLURM_JOB_ID",
        "SLURM_HET_SIZE",
    ):
        monkeypatch.delenv(name, raising=False)


def file_in(command: list[str]) -> Path:
    """The machine file, which comes first."""
    assert command[:2] == ["/m", "-machinefile"]
    return Path(command[2])


def test_ranks_in_order_are_lines_of_a_machine_file(tmp_path: Path) -> None:
    spec = LaunchSpec(("p", "-x"), 4, CLUSTER, PLACEMENT, {"A": "b c"}, ("-l",))

    command = INTEL.prepare_command(spec, tmp_path)

    assert file_in(command).read_text() == "h0:1\nh1:2\nh0:1\n"
    assert command[3:] == ["-n", "4", "-genv", "A", "b c", "-l", "p", "-x"]


def test_pinning_is_left_to_the_user(tmp_path: Path) -> None:
    spec = LaunchSpec(("p",), 4, CLUSTER, PLACEMENT, shares_hosts=True)

    command = INTEL.prepare_command(spec, tmp_path)

    assert command == ["/m", "-machinefile", str(file_in(command)), "-n", "4", "p"]


@pytest.mark.parametrize(
    ("arguments", "variables"), [(("-ppn", "1"), {}), ((), {"I_MPI_PERHOST": "1"})]
)
def test_ranks_that_the_user_spreads_are_not_given_by_lines(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    variables: dict[str, str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    own = INTEL.prepare_command(LaunchSpec(("p",), 4, CLUSTER, launcher_args=arguments), tmp_path)
    placed = INTEL.prepare_command(
        LaunchSpec(("p",), 4, CLUSTER, PLACEMENT, launcher_args=arguments), tmp_path
    )

    assert own == ["/m", "-f", own[2], "-n", "4", *arguments, "p"]
    assert file_in(placed).read_text() == "h0:1\nh1:2\nh0:1\n"


def test_users_of_hosts_stand_before_them(tmp_path: Path) -> None:
    # "token user not supported at this time" is what 2021.18.1 says of Hydra's user=NAME.
    cluster = dataclasses.replace(CLUSTER, logins={"h1": Login("me")})

    for placement, text in ((PLACEMENT, "h0:1\nme@h1:2\nh0:1\n"), (None, "h0:2\nme@h1:2\n")):
        command = INTEL.prepare_command(LaunchSpec(("p",), 4, cluster, placement), tmp_path)
        assert file_in(command).read_text() == text


def test_own_hostfile_is_used_where_intel_mpi_can_read_its_form(tmp_path: Path) -> None:
    own = tmp_path / "own"

    def names(given: GivenHosts, **logins: Login) -> Path:
        cluster = dataclasses.replace(CLUSTER, given=given, logins=logins)
        return file_in(INTEL.prepare_command(LaunchSpec(("p",), 4, cluster), tmp_path))

    assert names(GivenHosts(own, "mpich")) == own
    assert names(GivenHosts(own)) == own
    assert names(GivenHosts(own, "openmpi")) != own
    assert names(GivenHosts(own, "mpich"), h1=Login("me")) != own


def test_in_an_allocation_the_launcher_finds_the_hosts(tmp_path: Path) -> None:
    cluster = dataclasses.replace(CLUSTER, given=GivenHosts())

    command = INTEL.prepare_command(LaunchSpec(("p",), 4, cluster), tmp_path)

    assert command == ["/m", "-n", "4", "p"]


@pytest.mark.parametrize("options", [("-ppn", "1"), ("-perhost", "1"), ("-grr", "1"), ("-rr",)])
def test_a_placement_replaces_options_that_place_ranks(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    spec = LaunchSpec(("p",), 4, CLUSTER, PLACEMENT, launcher_args=(*options, "-l"))

    assert INTEL.prepare_command(spec, tmp_path)[3:] == ["-n", "4", "-l", "p"]


def test_lists_of_cpus_are_refused(tmp_path: Path) -> None:
    cpus = RankCpus(("0", "1", "0", "1"), by_program=True)
    spec = LaunchSpec(("p",), 4, CLUSTER, PLACEMENT, cpus=cpus)

    with pytest.raises(LaunchError, match="by its own variables"):
        INTEL.prepare_command(spec, tmp_path)


@pytest.fixture
def in_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "srun").touch(mode=0o755)
    for name, value in {
        "PATH": str(tmp_path), "SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "h[0-1]",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)


# With a file 2021.18.1 starts its proxies by ssh, in a job of Slurm too. With -bootstrap slurm the
# file h0 h2 h0 h2 h1 h3 h1 h3 gives ranks on h0 h1 h0 h1 h2 h3 h2 h3.
def test_in_a_job_of_slurm_the_hosts_of_a_file_are_reached_by_srun(
    in_slurm: None, tmp_path: Path
) -> None:
    by_file = INTEL.prepare_command(LaunchSpec(("p",), 4, CLUSTER, PLACEMENT), tmp_path)
    found = dataclasses.replace(CLUSTER, given=GivenHosts())
    by_itself = INTEL.prepare_command(LaunchSpec(("p",), 4, found), tmp_path)

    assert by_file[3:6] == ["-bootstrap", "ssh", "-bootstrap-exec"]
    assert "exec srun --nodes=1 --ntasks=1 --overlap" in Path(by_file[6]).read_text()
    assert by_itself == ["/m", "-n", "4", "p"]


@pytest.mark.parametrize("option", ["-bootstrap", "-launcher", "-bootstrap-exec", "-launcher-exec"])
def test_how_the_user_reaches_hosts_is_kept(in_slurm: None, option: str, tmp_path: Path) -> None:
    spec = LaunchSpec(("p",), 4, CLUSTER, PLACEMENT, launcher_args=(option, "ssh"))

    assert INTEL.prepare_command(spec, tmp_path)[3:] == ["-n", "4", option, "ssh", "p"]
