# SPDX-License-Identifier: Apache-2.0
"""The origin of a file, as short lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.measure.one_machine import ORIGIN_KEY
from fairlead.model.coverage import Coverage
from fairlead.model.network import Network
from fairlead.model.traffic import Traffic


def origin_lines(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each fact as its name in words and its value as text; nested facts on one line."""
    return [(str(name).replace("_", " "), _text(value)) for name, value in origin.items()]


def network_lines(network: Network) -> list[tuple[str, str]]:
    """The origin of a network, and the hosts that did not answer, as `origin_lines`."""
    facts = {name: value for name, value in network.origin.items() if name != ORIGIN_KEY}
    lines = origin_lines(facts)
    if network.launch_s is not None:
        lines.append(("launch s", _text(network.launch_s)))
    if network.unreachable:
        lines.append(("unreachable", _text(network.unreachable)))
    return lines


def traffic_lines(traffic: Traffic) -> list[tuple[str, str]]:
    """The origin of a traffic, and what it does not contain, as `origin_lines`."""
    coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
    facts = {name: value for name, value in traffic.origin.items() if name != "partial"}
    lines = origin_lines(facts if coverage else traffic.origin)
    if coverage:
        lines.append(("trace", coverage.line()))
    if lost := traffic.untraced.line():
        lines.append(("not in the file", lost))
    return lines


def origin_facts(network: Network) -> dict[str, Any]:
    """The origin of a network as plain values, with the outcome of running flows together."""
    return {
        "origin": network.origin,
        "launch_s": network.launch_s,
        "unreachable": dict(network.unreachable),
        "flows": None if network.flows is None else network.flows._asdict(),
    }


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_text(part) for part in value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return "unknown" if value is None else str(value)
