# SPDX-License-Identifier: Apache-2.0
"""What this host sends is counted at its hardware, whose kernel relates all other devices to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairlead.measure.metrics.host import HostSource

ROW = " 5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0"
"""A device's counters in /proc/net/dev."""


def sysfs(folder: Path, **devices: dict[str, Any]) -> Path:
    """/sys/class/net as the kernel makes it: attributes as files, relations as links."""
    for index, (name, attributes) in enumerate(devices.items(), 1):
        device = folder / "net" / name.replace("__", ".")
        device.mkdir(parents=True)
        number = str(attributes.pop("ifindex", index))
        (device / "ifindex").write_text(number + "\n")
        (device / "iflink").write_text(str(attributes.pop("iflink", number)) + "\n")
        if attributes.pop("hardware", False):
            (folder / "pci" / name).mkdir(parents=True)
            (device / "device").symlink_to(folder / "pci" / name)
        if "master" in attributes:
            (device / "master").symlink_to(folder / "net" / attributes.pop("master"))
        for attribute, value in attributes.items():
            (device / attribute).write_text(f"{value}\n")
    return folder / "net"


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        pytest.param({"eth0": {"hardware": True}, "x": {"iflink": 9}}, {"eth0"}, id="veth"),
        pytest.param(
            {
                "eth0": {"hardware": True, "master": "team"},
                "eth1": {"hardware": True, "master": "team"},
                "team": {}, "team__7": {"iflink": 3}, "stp": {},
            },
            {"eth0", "eth1"}, id="bond, VLAN and bridge",
        ),
        pytest.param(
            {"eth0": {"hardware": True}, "enP1s1": {"hardware": True, "master": "eth0"}},
            {"eth0"}, id="Azure",
        ),
        pytest.param(
            {
                "p0": {"hardware": True, "phys_port_name": "p0"},
                "p0_1": {"hardware": True, "phys_port_name": "pf0vf1"},
            },
            {"p0"}, id="representor",
        ),
        pytest.param(
            {"ib0": {"hardware": True}, "ib0__1": {"hardware": True, "iflink": 1}},
            {"ib0"}, id="child of IPoIB",
        ),
        pytest.param({"eth0": {"iflink": 77}, "dummy": {}}, {"eth0"}, id="container"),
    ],
)  # fmt: skip
def test_ports_of_this_host_are_its_hardware(
    tmp_path: Path, monkeypatch, devices: dict[str, Any], expected: set[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = sysfs(tmp_path, **devices)
    names = [path.name for path in folder.iterdir()]
    (tmp_path / "dev").write_text("".join(f"{name}:{ROW}\n" for name in [*names, "lo"]))

    series = HostSource("n1", tmp_path / "dev", folder).read(0, 60)
    chosen = HostSource("n1", tmp_path / "dev", folder, devices=[names[-1]]).read(0, 60)

    assert {one.device for one in series} == expected
    assert {one.device for one in chosen} == {names[-1]}


def add_infiniband(
    folder: Path, device: str, state: str, link_layer: str, counters: tuple[str, str]
) -> None:
    """A port below /sys/class/infiniband."""
    port = folder / "infiniband" / device / "ports" / "1"
    (port / "counters").mkdir(parents=True)
    for name, counter in zip(("port_rcv_data", "port_xmit_data"), counters, strict=True):
        (port / "counters" / name).write_text(f"{counter}\n")
    (port / "link_layer").write_text(f"{link_layer}\n")
    (port / "state").write_text(f"{state}\n")


def test_adapters_of_this_host_come_before_its_ethernet(tmp_path: Path) -> None:
    folder = sysfs(tmp_path, eth0={"hardware": True})
    for device, link_layer, state in (
        ("mlx5_0", "InfiniBand", "4: ACTIVE"),
        ("mlx5_1", "Ethernet", "4: ACTIVE"),
        ("mlx5_2", "InfiniBand", "1: DOWN"),
    ):
        add_infiniband(tmp_path, device, state, link_layer, ("100", "200"))
    (tmp_path / "dev").write_text(f"eth0:{ROW}\n")

    source = HostSource("n1", tmp_path / "dev", folder)
    series = source.read(0, 60)
    chosen = HostSource("n1", tmp_path / "dev", folder, devices=["eth*"]).read(0, 60)

    assert {(one.port, one.device, one.is_into, one.values[0]) for one in series} == {
        ("host n1", "mlx5_0:1", True, 400),
        ("host n1", "mlx5_0:1", False, 800),
        ("host n1 infiniband mlx5_0:1", "", True, 400),
        ("host n1 infiniband mlx5_0:1", "", False, 800),
    }
    assert source.without_link == ["n1 mlx5_2:1"]
    assert {one.device for one in chosen} == {"eth0"}


def test_adapter_that_the_kernel_does_not_count_is_named(tmp_path: Path) -> None:
    folder = sysfs(tmp_path, eth0={"hardware": True})
    add_infiniband(tmp_path, "mlx4_0", "4: ACTIVE", "InfiniBand", ("N/A (no PMA)",) * 2)
    (tmp_path / "dev").write_text(f"eth0:{ROW}\n")

    source = HostSource("n1", tmp_path / "dev", folder)

    # What Ethernet carries is not what messages do.
    assert source.read(0, 60) == []
    assert source.skipped == ["host:n1: the kernel does not count what mlx4_0:1 carries"]
