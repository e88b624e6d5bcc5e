# SPDX-License-Identifier: Apache-2.0
"""A network as SimGrid's description of a platform."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import fairlead as fl

INSIDE_Bps, INSIDE_LATENCY_S = 5e9, 1e-6
"""Between ranks on one host: memory, as common machines have it."""


def write_platform(
    network: fl.Network,
    path: Path,
    inside_Bps: float = INSIDE_Bps,
    inside_latency_s: float = INSIDE_LATENCY_S,
    speed: str = "1Gf",
) -> None:
    """SimGrid's description of a network: interfaces, pairs, and groups of pairs as links."""
    platform = ET.Element("platform", version="4.1")
    zone = ET.SubElement(platform, "zone", id="cloud", routing="Full")
    for host in network.hosts:
        ET.SubElement(zone, "host", id=host, speed=speed, core="1024")
    links = links_of(network)
    for index in range(network.num_hosts):
        links[f"in{index}"] = (inside_Bps, inside_latency_s)
    routes = list(routes_of(network))
    for name, (rate_Bps, latency_s) in links.items():
        ET.SubElement(
            zone, "link", id=name, bandwidth=f"{rate_Bps!r}Bps", latency=f"{latency_s!r}s"
        )
    for src, dst, names in routes:
        route = ET.SubElement(zone, "route", src=src, dst=dst, symmetrical="NO")
        for name in names:
            ET.SubElement(route, "link_ctn", id=name)
    head = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
    path.write_text(head + ET.tostring(platform, encoding="unicode"))


def links_of(network: fl.Network) -> dict[str, tuple[float, float]]:
    """Bandwidth and latency of each link by its name."""
    links = {}
    for index in range(network.num_hosts):
        links[f"in{index}"] = (INSIDE_Bps, INSIDE_LATENCY_S)
        for side, nic_Bps in (("out", network.nic_out_Bps), ("into", network.nic_in_Bps)):
            if nic_Bps is not None and np.isfinite(nic_Bps[index]):
                links[f"{side}{index}"] = (float(nic_Bps[index]), 0.0)
    for src, dst in pairs(network.num_hosts):
        rate_Bps = float(network.bandwidth_Bps[src, dst])
        links[f"pair{src}-{dst}"] = (rate_Bps, float(network.latency_s[src, dst]))
    for index, group in enumerate(network.groups):
        links[f"group{index}"] = (float(group.capacity_Bps), 0.0)
    return links


def routes_of(network: fl.Network) -> Iterator[tuple[str, str, list[str]]]:
    """Links that a message passes from each host to each."""
    links = links_of(network)
    groups_of_pair: dict[tuple[int, int], list[str]] = {}
    for index, group in enumerate(network.groups):
        for src, dst in group.pairs.tolist():
            groups_of_pair.setdefault((src, dst), []).append(f"group{index}")
    for index, host in enumerate(network.hosts):
        yield host, host, [f"in{index}"]
    for src, dst in pairs(network.num_hosts):
        passed = [
            f"out{src}",
            *groups_of_pair.get((src, dst), []),
            f"pair{src}-{dst}",
            f"into{dst}",
        ]
        yield network.hosts[src], network.hosts[dst], [name for name in passed if name in links]


def pairs(num_hosts: int) -> Iterator[tuple[int, int]]:
    """Ordered pairs of different hosts."""
    return ((src, dst) for src in range(num_hosts) for dst in range(num_hosts) if src != dst)
