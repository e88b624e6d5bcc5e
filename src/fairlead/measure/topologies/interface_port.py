# SPDX-License-Identifier: Apache-2.0
"""How an interface of an Ethernet switch is called among the ports of a topology."""

from __future__ import annotations

__all__ = ["interface_port"]


def interface_port(switch: str, interface: str) -> str:
    """Name of an interface: the same by LLDP, by SNMP and in a mapping of metrics."""
    return f"interface {switch} {interface}"
