# SPDX-License-Identifier: Apache-2.0
"""Open MPI 4 cuts host names at the first dot: hosts that are one for it are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.openmpi5 import OpenMpi5

SAME = ("job.1.svc", "job.2.svc")
KEEP = ("--mca", "orte_keep_fqdn_hostnames", "1")


@pytest.fixture(autouse=True)
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.delenv("OMPI_MCA_orte_keep_fqdn_hostnames", raising=False)


def check(hosts: tuple[str, ...], *arguments: str) -> None:
    cluster = fl.Cluster.uniform(hosts, 1)
    spec = LaunchSpec(("true",), 2, cluster, launcher_args=arguments)
    OpenMpi4(Path("mpirun"), (4, 1, 4)).check(spec)


def is_accepted(hosts: tuple[str, ...], *arguments: str) -> bool:
    try:
        check(hosts, *arguments)
    except fl.LaunchError:
        return False
    return True


def test_hosts_with_one_first_label_are_refused_with_the_remedy() -> None:
    with pytest.raises(
        fl.LaunchError, match="export OMPI_MCA_orte_keep_fqdn_hostnames=1"
    ) as caught:
        check(SAME)
    assert "'job.1.svc' and 'job.2.svc'" in str(caught.value)


def test_the_remedy_is_accepted_from_variable_and_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_accepted(SAME, *KEEP)
    assert not is_accepted(SAME)
    monkeypatch.setenv("OMPI_MCA_orte_keep_fqdn_hostnames", "1")
    assert is_accepted(SAME)


@pytest.mark.parametrize("hosts", [("10.0.0.1", "10.0.0.2"), ("a.svc", "b.svc")])
def test_addresses_and_other_names_are_not_cut(hosts: tuple[str, ...]) -> None:
    assert is_accepted(hosts)


def test_open_mpi_5_keeps_whole_names() -> None:
    spec = LaunchSpec(("true",), 2, fl.Cluster.uniform(SAME, 1))
    assert OpenMpi5(Path("mpirun"), (5, 0, 11)).check(spec) is None  # type: ignore[func-returns-value]
