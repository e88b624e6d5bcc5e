# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of a network device below /sys/class/net."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fairlead.measure.metrics.physical_ports import Device

__all__ = ["AdapterPort", "adapter_ports", "device_of_sysfs"]

OCTETS = 4
"""InfiniBand counts data in words of four octets. Source: IBTA, PortXmitData."""

MOST_LETTERS = 256
"""Longest value of an attribute."""


def device_of_sysfs(sysfs: Path | None, name: str) -> Device:
    """A device by its relations; by its name alone where there is no folder of it.

    Source: Linux, Documentation/ABI/testing/sysfs-class-net.
    """
    if sysfs is None or not (sysfs / name).is_dir():
        return Device(name)
    folder = sysfs / name
    master = folder / "master"
    return Device(
        name,
        has_hardware=(folder / "device").exists(),
        address=_text(folder / "address"),
        index=_number(folder / "ifindex"),
        lower_index=_number(folder / "iflink"),
        link_type=_number(folder / "type"),
        flags=_number(folder / "flags"),
        name_assign_type=_number(folder / "name_assign_type"),
        master=master.resolve().name if master.exists() else None,
        port_name=_text(folder / "phys_port_name"),
        is_bond=(folder / "bonding").is_dir(),
        knows_relations=True,
    )


class AdapterPort(NamedTuple):
    """A port of InfiniBand.

    Attributes:
        name: Adapter and port, `mlx5_0:1`.
        is_up: Whether it has a link that carries data.
        moved_bytes: What it has received and sent; None where the kernel does not count it.
    """

    name: str
    is_up: bool
    moved_bytes: tuple[int, int] | None


def adapter_ports(sysfs: Path) -> list[AdapterPort]:
    """The ports of InfiniBand below /sys/class/infiniband; none of Ethernet.

    Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband.
    """
    found = []
    for port in sorted(sysfs.glob("*/ports/*")):
        received, sent = (
            _number(port / "counters" / name) for name in ("port_rcv_data", "port_xmit_data")
        )
        # 4: ACTIVE; ACTIVE_DEFER, with the number 5, carries data too.
        state = (_text(port / "state") or "").rpartition(" ")[2]
        if _text(port / "link_layer") not in (None, "InfiniBand"):
            continue
        moved_bytes = None
        # Virtual functions may have "N/A (no PMA)" there.
        if received is not None and sent is not None:
            moved_bytes = received * OCTETS, sent * OCTETS
        name = f"{port.parents[1].name}:{port.name}"
        found.append(AdapterPort(name, state.startswith("ACTIVE"), moved_bytes))
    return found


def _text(file: Path) -> str | None:
    """An attribute; None where the device has none, which some show by an error."""
    try:
        with file.open(encoding="ascii", errors="replace") as stream:
            return stream.read(MOST_LETTERS).strip() or None
    except OSError:
        return None


def _number(file: Path) -> int | None:
    text = _text(file)
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None
