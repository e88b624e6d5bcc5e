# SPDX-License-Identifier: Apache-2.0
"""The hosts of an allocation, from the variables of schedulers and launchers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.act.launch import find_allocation, read_hostfile
from fairlead.act.launch.allocation import is_started_by_scheduler
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster, GivenHosts

OPEN_MPI, MPICH, INTEL_MPI = "openmpi", "mpich", "intel"

# sge_pe(5): host, slots, queue, processors.
PE_HOSTFILE = "h0 4 all.q@h0 UNDEFINED\nh1.site 2 all.q@h1.site <NULL>\n"


def hosts_and_slots(cluster: Cluster | None) -> dict[str, int]:
    assert cluster is not None
    return dict(zip(cluster.hosts, cluster.slots, strict=True))


def no_launcher() -> str:
    raise AssertionError("no launcher's variable is set")


@pytest.mark.parametrize(
    ("name", "text", "slots"),
    [
        # A name for each slot, as pbs_mom writes them; a name that comes once is one slot.
        ("PBS_NODEFILE", "h0\nh0\nh1\nh0\n", {"h0": 3, "h1": 1}),
        ("LSB_DJOB_HOSTFILE", "h0\nh0\nh1\nh1\n", {"h0": 2, "h1": 2}),
        ("COBALT_NODEFILE", "h0\nh1\n", {"h0": 1, "h1": 1}),
        ("LOADL_HOSTFILE", "h1\nh0\nh1\n", {"h1": 2, "h0": 1}),
        ("PE_HOSTFILE", PE_HOSTFILE, {"h0": 4, "h1.site": 2}),
        # Grid engines have more columns and fewer, and a host for each of its queues.
        ("PE_HOSTFILE", "h0 4\nh1 2 all.q@h1\n", {"h0": 4, "h1": 2}),
        ("PE_HOSTFILE", "h0 4 a.q@h0 <NULL> 8G\nh0 1 b.q@h0 <NULL> 8G\n", {"h0": 5}),
        ("PE_HOSTFILE", "head 0 all.q@head UNDEFINED\nh0 2 all.q@h0 UNDEFINED\n", {"h0": 2}),
    ],
)
def test_a_scheduler_names_a_file(
    tmp_path: Path, name: str, text: str, slots: dict[str, int]
) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)

    cluster = find_allocation(no_launcher, {name: str(file)})

    assert hosts_and_slots(cluster) == slots
    assert cluster is not None
    assert (cluster.given, cluster.bare_hosts, cluster.source) == (None, frozenset(), name)


@pytest.mark.parametrize(
    ("name", "text", "slots"),
    [
        ("LSB_MCPU_HOSTS", "h0 4 h1 2 h0 1", {"h0": 5, "h1": 2}),
        ("LSB_MCPU_HOSTS", "head 0 h1 2 ", {"h1": 2}),
        ("LSB_HOSTS", "h0 h0 h1", {"h0": 2, "h1": 1}),
        ("SLURM_JOB_NODELIST", "h[0-1]", {"h0": 3, "h1": 3}),
    ],
)
def test_a_scheduler_names_hosts(name: str, text: str, slots: dict[str, int]) -> None:
    env = {name: text, "SLURM_TASKS_PER_NODE": "3(x2)"}

    assert hosts_and_slots(find_allocation(no_launcher, env)) == slots


def test_hydras_variable_is_for_hydra(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("h0:2\nh1:2\n")
    env = {"HYDRA_HOST_FILE": str(file)}

    cluster = find_allocation(lambda: MPICH, env)

    assert hosts_and_slots(cluster) == {"h0": 2, "h1": 2}
    # The launcher gets the user's own file.
    assert cluster is not None
    assert cluster.given is not None
    assert cluster.given.hostfile == file
    assert find_allocation(lambda: OPEN_MPI, env) is None


def test_hydras_file_replaces_the_schedulers_hosts(tmp_path: Path) -> None:
    file, nodes = tmp_path / "hosts", tmp_path / "nodes"
    file.write_text("own\n")
    nodes.write_text("scheduled\n")
    env = {"PBS_NODEFILE": str(nodes)}

    of_hydra = find_allocation(lambda: MPICH, env | {"HYDRA_HOST_FILE": str(file)})

    assert hosts_and_slots(of_hydra) == {"own": 1}
    assert hosts_and_slots(find_allocation(lambda: OPEN_MPI, env)) == {"scheduled": 1}


@pytest.mark.parametrize("variable", ["I_MPI_HYDRA_HOST_FILE", "HYDRA_HOST_FILE"])
def test_file_of_intel_mpis_variable_names_hosts_and_leaves_slots_to_the_launcher(
    tmp_path: Path, variable: str
) -> None:
    # Seen with 2021.18.1 on two cores: this file gives ranks on h0 h0 h1 h1.
    file = tmp_path / "hosts"
    file.write_text("h0:1\nh1:3\n")

    cluster = find_allocation(lambda: INTEL_MPI, {variable: str(file)})

    assert cluster is not None
    assert cluster.hosts == ("h0", "h1")
    assert cluster.bare_hosts == {"h0", "h1"}
    # No option names the hosts: the launcher reads its variable.
    assert cluster.given == GivenHosts(hostfile=None)


def test_group_of_hosts_of_intel_mpi_is_read_as_its_manual_has_it(tmp_path: Path) -> None:
    env = {"I_MPI_HYDRA_HOSTS_GROUP": "hostA[01-02],hostB,hostC[01,07-08]"}

    cluster = find_allocation(lambda: INTEL_MPI, env)

    assert cluster is not None
    assert cluster.hosts == ("hostA01", "hostA02", "hostB", "hostC01", "hostC07", "hostC08")
    assert cluster.bare_hosts == set(cluster.hosts)
    assert cluster.given == GivenHosts(hostfile=None)
    assert find_allocation(lambda: MPICH, env) is None
    (tmp_path / "hosts").write_text("own\n")
    both = env | {"I_MPI_HYDRA_HOST_FILE": str(tmp_path / "hosts")}
    assert hosts_and_slots(find_allocation(lambda: INTEL_MPI, both)) == {"own": 1}


def test_intel_mpis_own_variable_comes_first(tmp_path: Path) -> None:
    own, hydras = tmp_path / "own", tmp_path / "hydras"
    own.write_text("h0\n")
    hydras.write_text("h1\n")
    env = {"I_MPI_HYDRA_HOST_FILE": str(own), "HYDRA_HOST_FILE": str(hydras)}

    assert hosts_and_slots(find_allocation(lambda: INTEL_MPI, env)) == {"h0": 1}
    assert hosts_and_slots(find_allocation(lambda: MPICH, env)) == {"h1": 1}


def test_without_variables_there_is_no_allocation() -> None:
    assert find_allocation(no_launcher, {}) is None


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"PBS_NODEFILE": "/gone"}, "PBS_NODEFILE=/gone: cannot be read: No such file"),
        ({"PE_HOSTFILE": "/gone"}, "PE_HOSTFILE=/gone: cannot be read: No such file"),
        ({"LSB_MCPU_HOSTS": "h0 4 h1"}, "LSB_MCPU_HOSTS='h0 4 h1': expected hosts with"),
        ({"LSB_MCPU_HOSTS": "h0 x"}, "LSB_MCPU_HOSTS='h0 x': expected hosts with"),
        ({"LSB_HOSTS": "-x"}, "LSB_HOSTS:1: host name '-x'"),
        ({"HYDRA_HOST_FILE": "/gone"}, "HYDRA_HOST_FILE: /gone: hostfile cannot be read"),
    ],
)
def test_what_is_wrong_is_named_by_its_variable(env: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        find_allocation(lambda: MPICH, env)

    assert message in str(error.value)


def test_damaged_hostfile_of_sge_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "pe_hostfile"
    file.write_text("h0 4 all.q@h0 UNDEFINED\nh1\n")

    with pytest.raises(InputError, match="PE_HOSTFILE:2: expected a host and its slots, got 'h1'"):
        find_allocation(no_launcher, {"PE_HOSTFILE": str(file)})


def test_a_hostfile_of_sge_is_a_hostfile(tmp_path: Path) -> None:
    file = tmp_path / "pe_hostfile"
    file.write_text(f"head 0 all.q@head UNDEFINED\n{PE_HOSTFILE}")

    cluster = read_hostfile(file)

    assert hosts_and_slots(cluster) == {"h0": 4, "h1.site": 2}
    # No launcher reads the form as a hostfile, so it gets another.
    assert cluster.given is None


def test_daemons_are_started_by_the_schedulers_program_where_there_is_one() -> None:
    env = {"LSB_JOBID": "1"}

    assert is_started_by_scheduler(lambda program: program == "blaunch", env)
    assert not is_started_by_scheduler(lambda _: False, env)
    assert not is_started_by_scheduler(lambda _: True, {})


# mpiexec of MPICH 4.0.2 places five ranks as a b a b a then.
def test_an_interleaved_list_of_slots_keeps_its_order(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("a\nb\na\nb\n")

    cluster = find_allocation(no_launcher, {"PBS_NODEFILE": str(file)})

    assert cluster is not None
    assert cluster.named == (("a", 1), ("b", 1), ("a", 1), ("b", 1))
