# SPDX-License-Identifier: Apache-2.0
"""Hosts after -H mean what they mean to the launchers."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fairlead.act.launch import host_names
from fairlead.cli.request_options import hosts_named
from fairlead.errors import InputError


@pytest.mark.parametrize(
    ("hosts", "slots", "bare"),
    [
        ("h0:4,h1:2", {"h0": 4, "h1": 2}, set()),
        ("h0,h1", {"h0": 1, "h1": 1}, set()),
        ("h0,h1,h0", {"h0": 2, "h1": 1}, set()),
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
