# SPDX-License-Identifier: Apache-2.0
"""How an interface of an Ethernet switch is called among the ports of a topology."""

from __future__ import annotations

__all__ = ["interface_port", "switch_and_interface"]

_KIND = "interface "


def interface_port(switch: str, interface: str) -> str:
    """Name of an interface: the same by LLDP, by SNMP and in a mapping of metrics."""
    return f"{_KIND}{switch} {interface}"


def switch_and_interface(port: str) -> tuple[str, str] | None:
    """The switch and the interface that a port's name has; None for ports of another kind."""
    switch, space, interface = port.removeprefix(_KIND).partition(" ")
    return (switch, interface) if port.startswith(_KIND) and space else None
