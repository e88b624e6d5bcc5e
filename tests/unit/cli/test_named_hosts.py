# SPDX-License-Identifier: Apache-2.0
"""Hosts after -H mean what they mean to the launchers."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fairlead.act.launch import host_names
from fairlead.cli.named_hosts import hosts_named, parse_cluster
from fairlead.errors import InputError


@pytest.mark.parametrize(
    ("hosts", "slots", "bare"),
    [
        ("h0:4,h1:2", {"h0": 4, "h1": 2}, set()),
        ("h0,h1", {"h0": 1, "h1": 1}, set()),
        ("h0,h1,h0", {"h0": 2, "h1": 1}, set()),
        ("h0:2,h1,h0", {"h0": 3, "h1": 1}, set()),
        ("fe80::1,h1", {"fe80::1": 1, "h1": 1}, set()),
        ("h0:0,h1:2,fe80::0", {"h1": 2, "fe80::0": 1}, set()),
        # Open MPI 4.1.4 and 5.0.11: as many slots as the host has cores.
        ("h0:*,h1", {"h0": 1, "h1": 1}, {"h0"}),
        ("h0:auto,h1:auto", {"h0": 1, "h1": 1}, {"h0", "h1"}),
    ],
)
def test_slots_are_given_or_the_launchers_to_choose(
    hosts: str, slots: dict[str, int], bare: set[str]
) -> None:
    cluster = hosts_named(None, hosts)

    assert cluster is not None
    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == slots
    assert cluster.bare_hosts == bare


@pytest.mark.parametrize("second", ["127.0.0.1", "127.3.2.1", socket.gethostname()])
def test_two_names_of_this_machine_are_refused_in_one_line(second: str, tmp_path: Path) -> None:
    hostfile = tmp_path / "hosts.txt"
    hostfile.write_text(f"far.invalid slots=2\nlocalhost slots=2\n{second} slots=2\n")

    with pytest.raises(InputError) as caught:
        hosts_named(hostfile, None)

    assert str(caught.value) == (
        f"{hostfile}: 'localhost' and {second!r} both mean this machine; name it once, with all "
        "its slots"
    )


def test_two_names_of_this_machine_are_refused_in_a_list_too() -> None:
    with pytest.raises(InputError, match=r"^--host: 'localhost' and '127.0.0.1' both mean this"):
        hosts_named(None, "localhost:2,h1,127.0.0.1")


def test_other_hosts_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def is_local_host(name: str) -> bool:
        asked.append(name)
        return name == "localhost"

    monkeypatch.setattr(host_names, "is_local_host", is_local_host)
    monkeypatch.setattr(socket, "gethostname", lambda: "n1.cluster")

    # Another machine may have the same first label, as with the MPI operator.
    cluster = hosts_named(None, "localhost,n1,N1.other,n10,n2.cluster,192.0.2.7")

    assert cluster is not None and cluster.num_hosts == 6
    assert asked == ["localhost", "n1", "N1.other", "192.0.2.7"]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    hostfile = tmp_path / "three.txt"
    hostfile.write_text("n1 slots=2\nn2 slots=3\nn3 slots=4\n")
    return hostfile


# As `mpirun --do-not-launch --display-map --hostfile three.txt -H ...` of Open MPI 4.1.4 has them.
@pytest.mark.parametrize(
    ("positions", "slots"),
    [
        ("+n1", {"n2": 3}),
        ("+n1:1", {"n2": 3}),
        ("+N1", {"n2": 3}),
        ("+n2,+n1", {"n2": 3, "n3": 4}),
        ("+n1,+n1", {"n2": 3}),
        ("+e", {"n1": 2, "n2": 3, "n3": 4}),
    ],
)
def test_positions_choose_hosts_of_the_file_in_its_order(
    positions: str, slots: dict[str, int], three: Path
) -> None:
    cluster = hosts_named(three, positions)

    assert cluster is not None
    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == slots


def test_positions_choose_hosts_of_the_allocation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("h0\nh0\nh1\nh1\n")
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))

    cluster = hosts_named(None, "+n1")

    assert cluster is not None and (cluster.hosts, cluster.slots) == (("h1",), (2,))


def test_without_an_allocation_the_first_position_is_this_machine() -> None:
    cluster = hosts_named(None, "+n0")

    assert cluster is not None
    assert cluster.hosts == (socket.gethostname(),)
    assert cluster.bare_hosts == {socket.gethostname()}


@pytest.mark.parametrize("positions", ["+n3", "+n", "+x", "+n0,n2", "+e:2"])
def test_other_positions_are_refused_by_their_name(positions: str, three: Path) -> None:
    wrong = positions.rsplit(",", maxsplit=1)[-1]

    with pytest.raises(InputError) as caught:
        hosts_named(three, positions)

    assert str(caught.value).startswith(f"--host: {wrong!r}")


@pytest.mark.parametrize("form", ["file", "list"])
def test_two_names_of_this_machine_are_refused_in_a_cluster_too(form: str, tmp_path: Path) -> None:
    hostfile = tmp_path / "hosts.txt"
    hostfile.write_text("localhost slots=2\n127.0.0.1 slots=2\n")

    with pytest.raises(InputError, match=r"'localhost' and '127\.0\.0\.1' both mean"):
        parse_cluster(str(hostfile) if form == "file" else "localhost:2,127.0.0.1:2")


def test_a_list_of_hosts_may_be_longer_than_a_name_of_a_file() -> None:
    hosts = [f"node{number:03}" for number in range(64)]
    cluster = parse_cluster(",".join(f"{host}:4" for host in hosts))
    assert (cluster.hosts, cluster.num_slots) == (tuple(hosts), 256)
