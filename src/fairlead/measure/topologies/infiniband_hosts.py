# SPDX-License-Identifier: Apache-2.0
"""Which adapters of an InfiniBand fabric are in one host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from fairlead.measure.topologies.infiniband_text import AGGREGATION, Fabric, Node

__all__ = [
    "Adapter",
    "adapter_names",
    "adapters_of_hosts",
    "infiniband_name",
    "port_aliases",
    "switch_names",
]

_DEVICE = re.compile(r"HCA-\d+|[a-z][a-z0-9_]*\d", re.A)
"""As rdma-ndd (mlx5_0) and the scripts of OFED (HCA-1) write it after the host's name."""

_NUMBER = re.compile(r"\d+$", re.A)

_DEFAULT = re.compile(
    r"MT_?\d+\b|.*\b(Mellanox|ConnectX|InfiniHost|NVIDIA|QLogic|Intel|Omni-Path|Cornelis|Voltaire"
    r"|PathScale|Technologies)\b.*",
    re.A | re.I,
)
"""What an adapter calls itself before anybody names it."""

_NO_NAMES = frozenset({"localhost", "localhost.localdomain", "(none)", "unknown"})
"""Names that every host has before it gets its own."""


class Adapter(NamedTuple):
    """A port of an adapter that has a cable to a switch.

    Attributes:
        host: The host that it is in.
        device: Its name there, such as mlx5_0; empty where the description has none.
        link: Position of the cable from it.
    """

    host: str
    device: str
    link: int


def adapters_of_hosts(fabric: Fabric) -> tuple[list[Adapter], list[str]]:
    """The adapters, those of one host one after another, and lines about names.

    An adapter is its GUID. Those whose description begins with the same host are in one host,
    unless two say the same or say nothing of a host: then each card is a host of its own, named by
    its GUID.
    """
    links: dict[str, list[int]] = {}
    for link, cable in enumerate(fabric.cables):
        node = fabric.nodes[cable.src]
        is_adapter = node.kind == "Ca" and not node.description.startswith(AGGREGATION)
        if is_adapter and fabric.nodes[cable.dst].kind == "Switch":
            links.setdefault(node.guid, []).append(link)
    nodes = [fabric.nodes[guid] for guid in links]
    host_of, lines = _hosts(nodes)
    found = [
        Adapter(host_of[node.guid], _host_and_device(node.description)[1], link)
        for node in nodes
        for link in links[node.guid]
    ]
    found.sort(key=lambda each: (each.host, each.device, fabric.cables[each.link].src, each.link))
    return found, lines


def _hosts(nodes: list[Node]) -> tuple[dict[str, str], list[str]]:
    """Host of each adapter, and lines that name equal and default descriptions."""
    by_name: dict[str, list[Node]] = {}
    for node in nodes:
        by_name.setdefault(_host_and_device(node.description)[0], []).append(node)
    host_of: dict[str, str] = {}
    equal: list[str] = []
    for name, some in by_name.items():
        systems_of: dict[str, set[str]] = {}
        for node in some:
            systems_of.setdefault(node.description, set()).add(node.system)
        is_equal = any(len(systems) > 1 for systems in systems_of.values())
        for node in some:
            own = f"{name}-{node.system}" if name else f"guid-{node.system}"
            host_of[node.guid] = own if is_equal or not name else name
        if name and is_equal:
            equal.append(f"several adapters call themselves {some[0].description!r}")
    unnamed = by_name.get("", [])
    if unnamed:
        more = f" and {len(unnamed) - 1} more" if len(unnamed) > 1 else ""
        equal.append(f"an adapter is described as {unnamed[0].description!r}{more}, not by a host")
    return host_of, [f"{line}: they are hosts named by their GUIDs" for line in equal]


def _host_and_device(description: str) -> tuple[str, str]:
    """The host that a description names, and the device; empty where it names none."""
    words = description.split()
    if not words or words[0] in _NO_NAMES or _DEFAULT.fullmatch(description):
        return "", ""
    device = words[1] if len(words) > 1 and _DEVICE.fullmatch(words[1]) else ""
    return words[0], device


def infiniband_name(host: str, device: str, port: str) -> str:
    """What counters that a host keeps of its own adapter are called."""
    return f"host {host} infiniband {device}:{port}"


def adapter_names(host: str, device_and_port: str, num_adapters: int) -> tuple[str, ...]:
    """What a topology may call a port `mlx5_0:1` of a host: by name, by number, or as its only one.

    Args:
        host: The host that counts it.
        device_and_port: As the kernel calls it.
        num_adapters: How many adapters the host has.
    """
    device, _, port = device_and_port.partition(":")
    number = _NUMBER.search(device)
    names = [device, *([f"#{number[0]}"] if number else []), *(["*"] if num_adapters == 1 else [])]
    return tuple(infiniband_name(host, name, port) for name in names)


def port_aliases(adapters: list[Adapter], ports: Mapping[int, str]) -> dict[str, str]:
    """Names of adapters' ports as hosts count them, and the port of each.

    Args:
        adapters: Adapters of all hosts.
        ports: Name `GUID:number` of the port that sends by each link.
    """
    aliases: dict[str, str] = {}
    num_of: dict[str, int] = {}
    for adapter in adapters:
        num_of[adapter.host] = num_of.get(adapter.host, 0) + 1
    for adapter in adapters:
        name = ports[adapter.link]
        number = name.rpartition(":")[2]
        if adapter.device.startswith("HCA-"):
            # The scripts count from 1 what the kernel counts from 0.
            index = int(adapter.device.removeprefix("HCA-")) - 1
            aliases[infiniband_name(adapter.host, f"#{index}", number)] = name
        elif adapter.device:
            aliases[infiniband_name(adapter.host, adapter.device, number)] = name
        if num_of[adapter.host] == 1:
            aliases[infiniband_name(adapter.host, "*", number)] = name
    return aliases


def switch_names(fabric: Fabric) -> dict[str, str]:
    """Name of each switch by GUID: its description where no other switch has the same."""
    switches = [node for node in fabric.nodes.values() if node.kind == "Switch"]
    described = [node.description for node in switches]
    return {
        node.guid: node.description
        if node.description and described.count(node.description) == 1
        else f"{node.description} ({node.guid})".strip()
        for node in switches
    }
