# SPDX-License-Identifier: Apache-2.0
"""Shared capacities of hosts and pairs, as a tree, as sentences, and as facts for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text
from rich.tree import Tree

from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.network import Network
from fairlead.report.plain import plain
from fairlead.report.scales import BYTES_PER_SECOND, human

_ANY = "the others"
_MOST_NAMES = 12
_MOST_INTERFACES = 16


def has_contention(network: Network) -> bool:
    """Whether flows were run together, with or without finding a group."""
    return bool(network.groups) or network.nic_out_Bps is not None


def contention_facts(network: Network) -> dict[str, Any]:
    """Interfaces and groups as plain values; empty where flows were not run together."""
    if not has_contention(network):
        return {}
    return {
        "nic_out_Bps": plain(network.nic_out_Bps),
        "nic_in_Bps": plain(network.nic_in_Bps),
        "groups": [
            {
                "sources": [network.hosts[host] for host in group.src_hosts],
                "destinations": [network.hosts[host] for host in group.dst_hosts],
                "num_pairs": len(group.pairs),
                "capacity_Bps": group.capacity_Bps,
                "capacity_low_Bps": plain(group.capacity_low_Bps),
                "capacity_high_Bps": plain(group.capacity_high_Bps),
                "confidence_ratio": group.confidence_ratio,
            }
            for group in network.groups
        ],
    }


def contention_lines(network: Network) -> list[str]:
    """One sentence for each finding; none if flows were not run together."""
    flows = network.flows
    if flows is not None and flows.error is not None:
        return [f"flows could not be run together, only the pairs are known: {flows.error}"]
    if not has_contention(network):
        return []
    lines = [
        f"{title(network, group)} share {_capacity(group)}, confidence "
        f"{group.confidence_ratio * 100:.1f} %"
        for group in network.groups
    ]
    if not lines:
        lines = [_no_groups(network)]
    if flows is not None and not flows.is_complete:
        lines.append("the time limit was reached first: there may be more shared capacities")
    return lines


def title(network: Network, group: BottleneckGroup) -> str:
    """Both sides of a bottleneck; the larger is "the others" if it is all other hosts."""
    sources, destinations = group.src_hosts, group.dst_hosts
    is_all = (
        len(sources) + len(destinations)
        == network.num_hosts
        > 2 * min(len(sources), len(destinations))
    )
    names = [_ranges(network, hosts) for hosts in (sources, destinations)]
    if is_all:
        names[len(sources) < len(destinations)] = _ANY
    return f"{names[0]} → {names[1]}"


def contention_tree(network: Network) -> Tree:
    """Bottleneck, then its two sides; interfaces at the end."""
    tree = Tree(Text("Shared capacities", style="bold"))
    for group in network.groups:
        line = f"{_capacity(group)}, confidence {group.confidence_ratio * 100:.1f} %"
        branch = tree.add(Text(f"{title(network, group)}: {line}"))
        branch.add(Text(f"from {_ranges(network, group.src_hosts)}"))
        branch.add(Text(f"to {_ranges(network, group.dst_hosts)}"))
    if not network.groups:
        tree.add(Text(_no_groups(network)))
    _add_interfaces(tree, network)
    return tree


def _no_groups(network: Network) -> str:
    if network.flows is None and network.origin.get("how") in ("measured", "sampled"):
        return "only interfaces were measured; pairs may share bottlenecks"
    return "no pairs were found to share a bottleneck"


def _add_interfaces(tree: Tree, network: Network) -> None:
    """Every host, or the spread of all if there are many."""
    nic_out_Bps, nic_in_Bps = (
        np.full(network.num_hosts, np.nan) if nic is None else nic
        for nic in (network.nic_out_Bps, network.nic_in_Bps)
    )
    branch = tree.add(Text("interfaces, with the highest rate of each"))
    if network.num_hosts <= _MOST_INTERFACES:
        for host, sent, received in zip(network.hosts, nic_out_Bps, nic_in_Bps, strict=True):
            branch.add(Text(f"{host}: out {_rate(sent)}, in {_rate(received)}"))
        return
    for name, nic_Bps in (("out", nic_out_Bps), ("in", nic_in_Bps)):
        known = nic_Bps[np.isfinite(nic_Bps)]
        if known.size:
            least, middle, most = np.quantile(known, [0, 0.5, 1])
            branch.add(Text(f"{name}: {_rate(least)} to {_rate(most)}, median {_rate(middle)}"))


class Block(NamedTuple):
    """A rectangle of a heatmap, in cells: rows of sources and columns of destinations.

    Attributes:
        first_row, last_row, first_column, last_column: Its ends, both included.
        group: Position of its group in `network.groups`.
    """

    first_row: int
    last_row: int
    first_column: int
    last_column: int
    group: int


def blocks(network: Network, order: Sequence[int]) -> list[Block]:
    """The rectangles that the pairs of each group fill when hosts come in this order."""
    place = {host: index for index, host in enumerate(order)}
    return [
        Block(*rows, *columns, index)
        for index, group in enumerate(network.groups)
        for rows in _runs([place[host] for host in group.src_hosts])
        for columns in _runs([place[host] for host in group.dst_hosts])
    ]


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each row of places without a gap."""
    ordered = sorted(places)
    firsts = [place for place in ordered if place - 1 not in places]
    lasts = [place for place in ordered if place + 1 not in places]
    return list(zip(firsts, lasts, strict=True))


def sides_of_groups(network: Network) -> list[list[tuple[bool, bool]]]:
    """For each host and each group, whether it is not among the sources, and destinations.

    Returns:
        Sorted by it, hosts on the same sides of all groups stand together, length H.
    """
    traits: list[list[tuple[bool, bool]]] = [[] for _ in network.hosts]
    for group in network.groups:
        sources, destinations = set(group.src_hosts), set(group.dst_hosts)
        for host, trait in enumerate(traits):
            trait.append((host not in sources, host not in destinations))
    return traits


def _capacity(group: BottleneckGroup) -> str:
    text = _rate(group.capacity_Bps)
    if np.isfinite(group.capacity_low_Bps) and np.isfinite(group.capacity_high_Bps):
        text += f" (95 % interval {_rate(group.capacity_low_Bps)} to "
        text += f"{_rate(group.capacity_high_Bps)})"
    return text


def _rate(rate_Bps: float) -> str:
    return human(rate_Bps, BYTES_PER_SECOND) if np.isfinite(rate_Bps) else "not measured"


def _ranges(network: Network, hosts: Sequence[int]) -> str:
    more = len(hosts) - _MOST_NAMES
    named = ", ".join(network.hosts[host] for host in hosts[:_MOST_NAMES])
    return named if more <= 0 else f"{named} and {more} more"
