# SPDX-License-Identifier: Apache-2.0
"""What the kernel says of a network device below /sys/class/net."""

from __future__ import annotations

from pathlib import Path

from fairlead.measure.metrics.physical_ports import Device

__all__ = ["device_of_sysfs"]

MOST_LETTERS = 256
"""Of an attribute."""


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


def _text(file: Path) -> str | None:
    """An attribute; None where the device has none, which some tell by an error."""
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
