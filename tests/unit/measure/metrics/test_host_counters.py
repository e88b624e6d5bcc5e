# SPDX-License-Identifier: Apache-2.0
"""Counters of this host are read in place: interfaces, allowances of AWS, Slingshot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairlead.errors import Error, InputError
from fairlead.measure.metrics import Quantity, open_source
from fairlead.measure.metrics.host import HostSource, parse_net_dev

NET_DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0
  eth0: 5000 50 0 0 0 0 0 0 7000 70 0 0 0 0 0 0
  eth1:5000 50 0 0 0 0 0 0 7000 70 0 0 0 0 0 0
veth12: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0
"""

ETHTOOL = """#!/bin/sh
echo "NIC statistics:"
echo "     tx_timeout: 0"
echo "     bw_in_allowance_exceeded: 3"
echo "     bw_out_allowance_exceeded: 4"
"""


def read(folder: Path) -> dict[tuple[bool, Quantity], float]:
    (folder / "dev").write_text(NET_DEV)
    series = HostSource("h", folder / "dev").read(0, 60)
    assert {one.port for one in series} == {"host h"}
    assert {one.device for one in series} == {"eth0", "eth1"}
    total: dict[tuple[bool, Quantity], float] = {}
    for one in series:
        key = (one.is_into, one.quantity)
        total[key] = total.get(key, 0.0) + float(one.values[-1])
    return total


def test_interfaces_to_others_are_added_up(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert read(tmp_path) == {
        (True, Quantity.carried_bytes): 10000,
        (False, Quantity.carried_bytes): 14000,
        (True, Quantity.packets): 100,
        (False, Quantity.packets): 140,
    }


def test_packets_that_aws_held_back_are_reported(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "ethtool").write_text(ETHTOOL)
    (tmp_path / "ethtool").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    found = read(tmp_path)

    assert found[True, Quantity.shaped_packets] == 6  # of two interfaces
    assert found[False, Quantity.shaped_packets] == 8


def test_line_that_is_no_interface_is_named() -> None:
    with pytest.raises(Error, match="/proc/net/dev:1: expected an interface and 16 counters"):
        parse_net_dev("eth0: 1 2 3\n")


def test_this_host_can_be_read() -> None:
    assert open_source("host:").name.startswith("host:")
    open_source("host:x").read(0, 60)


def test_slingshot_tells_value_and_time(tmp_path: Path) -> None:
    (tmp_path / "hni_sts_rx_ok_octets").write_text("4096@1700000000.250000000\n")

    (series,) = open_source(f"cxi:{tmp_path}?host=h").read(0, 60)

    assert (series.key, series.values[0]) == (("host h", True, Quantity.carried_bytes), 4096)
    assert series.times_s[0] == 1700000000.25


def test_folder_without_slingshots_counters_is_named(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"cxi:.*: holds none of hni_sts_rx_ok_octets"):
        open_source(f"cxi:{tmp_path}").read(0, 60)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("snmp:x", "metrics 'snmp:x': expected one of prometheus:URL, "),
        (
            "prometheus:http://h?a=b",
            "unknown option 'a'; there are device, host, select, step, tick",
        ),
        ("prometheus:ftp://h", "ftp://h: expected http://HOST:PORT or https://HOST:PORT"),
        ("ldmsd:h", "ldmsd:h: expected ldmsd:HOST:PORT"),
        ("prometheus:http://h?step=x", "duration 'x': expected a number"),
    ],
)
def test_source_that_is_none_is_named(text: str, problem: str) -> None:
    with pytest.raises((InputError, Error), match=problem):
        open_source(text)
