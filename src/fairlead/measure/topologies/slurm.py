# SPDX-License-Identifier: Apache-2.0
"""Slurm's topology: topology.conf, topology.yaml, and what `scontrol show topology` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fairlead.errors import InputError
from fairlead.measure.topologies.documents import require_few
from fairlead.measure.topologies.shortest_paths import (
    End,
    between_hosts,
    require_table,
    shortest_paths,
)
from fairlead.measure.topologies.slurm_text import Record, read_records
from fairlead.measure.topologies.switch_tree import (
    MOST_LEVELS,
    fill_up_above,
    host_port,
    tree_topology,
)
from fairlead.model.topology import Links, Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["read"]


def read(path: Path) -> Topology:
    """The tree of switches, or blocks and groups of blocks.

    LinkSpeed is left out: Slurm gives it no unit and no meaning.

    Raises:
        InputError: A line is not understood, a switch is missing, named twice or below itself.
    """
    records, passed_over = read_records(path)
    origin = {"how": "slurm", "file": str(path)}
    blocks = [record for record in records if "BlockName" in record.fields]
    if blocks:
        above = _groups_above(path, records, blocks)
        return tree_topology(above, origin, str(path), passed_over)
    parents_of = _parents(records)
    switches_of_host = _leaves(path, records)
    several = [*_below("switch", parents_of), *_below("host", switches_of_host)]
    if several:
        # Slurm, too, takes it with a warning, and measures by the shortest path.
        problems = [*passed_over, *several]
        return _by_shortest_paths(path, parents_of, switches_of_host, problems)
    ways = {host: _way_up(path, some[0], parents_of) for host, some in switches_of_host.items()}
    filled, problems = fill_up_above(ways, str(path))
    return tree_topology(filled, origin, str(path), [*passed_over, *problems])


def _parents(records: list[Record]) -> dict[str, list[str]]:
    """Switches right above each switch.

    Raises:
        InputError: A switch is named twice, is unknown or below itself.
    """
    named: dict[str, Record] = {}
    for record in records:
        name = record.fields.get("SwitchName")
        if not name:
            raise InputError(f"{record.where}: expected SwitchName= or BlockName=")
        if name in named:
            raise InputError(f"{record.where}: switch {name!r} has already been defined")
        named[name] = record
    parents_of: dict[str, list[str]] = {name: [] for name in named}
    for name, record in named.items():
        for child in record.hosts("Switches"):
            if child not in named or child == name:
                problem = "below itself" if child == name else "unknown"
                raise InputError(f"{record.where}: switch {name!r} names {child!r}, {problem}")
            if name not in parents_of[child]:
                parents_of[child].append(name)
    _check_levels(named, parents_of)
    return parents_of


def _check_levels(named: Mapping[str, Record], parents_of: Mapping[str, list[str]]) -> None:
    """Check that no switch is below itself."""
    children_of: dict[str, list[str]] = {}
    for name, parents in parents_of.items():
        for parent in parents:
            children_of.setdefault(parent, []).append(name)
    num_above = {name: len(parents) for name, parents in parents_of.items()}
    tops = [name for name, number in num_above.items() if not number]
    while tops:
        for child in children_of.get(tops.pop(), ()):
            num_above[child] -= 1
            if not num_above[child]:
                tops.append(child)
    below_itself = next((name for name, number in num_above.items() if number), None)
    if below_itself is not None:
        raise InputError(f"{named[below_itself].where}: switch {below_itself!r} is below itself")


def _leaves(path: Path, records: list[Record]) -> dict[str, list[str]]:
    """Leaf switches of each host, in the order of the file."""
    found: dict[str, list[str]] = {}
    for record in records:
        # `scontrol show topology` names all nodes below a higher switch, too.
        if record.fields.get("Switches"):
            continue
        for host in record.hosts("Nodes"):
            switches = found.setdefault(host, [])
            if record.fields["SwitchName"] not in switches:
                switches.append(record.fields["SwitchName"])
        require_few(path, len(found))
    if not found:
        raise InputError(f"{path}: names no host below a switch")
    for record in records:
        lost = next((host for host in record.hosts("Nodes") if host not in found), None)
        if lost is not None:
            raise InputError(
                f"{record.where}: switch {record.fields['SwitchName']!r} has switches below it, "
                f"and host {lost!r}, which is below none of them: Slurm takes no switch with both"
            )
    return found


def _below(kind: str, switches_of: Mapping[str, list[str]]) -> Iterator[str]:
    """A line about those below several switches, which all leaves of a fat tree may be."""
    found = [name for name, switches in switches_of.items() if len(switches) > 1]
    if found:
        more = f" (and {len(found) - 1} more)" if found[1:] else ""
        yield (
            f"{kind} {found[0]!r} is below several switches ({', '.join(switches_of[found[0]])})"
            f"{more}: routes take the shortest path"
        )


def _way_up(path: Path, switch: str, parents_of: Mapping[str, list[str]]) -> list[str]:
    """The switches above a host, the highest first.

    Raises:
        InputError: They are more than any network has.
    """
    way = [switch]
    while parents_of[way[-1]]:
        way += parents_of[way[-1]]
        if len(way) > MOST_LEVELS:
            raise InputError(f"{path}: switch {switch!r} is below {MOST_LEVELS} others and more")
    return way[::-1]


def _by_shortest_paths(
    path: Path,
    parents_of: Mapping[str, list[str]],
    switches_of_host: Mapping[str, list[str]],
    problems: list[str],
) -> Topology:
    """A network that is no tree: every switch sends on along a shortest path."""
    at = {name: index for index, name in enumerate(parents_of)}
    out_ports: list[str] = []
    in_ports: list[str] = []
    after: list[int] = []

    def cable(name: str, switch: int, below: int) -> tuple[int, int]:
        """Both links of a cable up to a switch; `below` is a switch, or NO_LINK for a host."""
        out_ports.extend((name, f"above {name}"))
        in_ports.extend((f"above {name}", name))
        after.extend((switch, below))
        return len(after) - 2, len(after) - 1

    ends = []
    for host, switches in switches_of_host.items():
        for index, switch in enumerate(switches):
            name = host_port(host) + (f" on {switch}" if index else "")
            ends.append(End(host, at[switch], *cable(name, at[switch], NO_LINK)))
    between = []
    for child, parents in parents_of.items():
        for parent in parents:
            name = f"switch {child}" + (f" to {parent}" if len(parents) > 1 else "")
            up, down = cable(name, at[parent], at[child])
            between += [(at[child], at[parent], up), (at[parent], at[child], down)]
    require_table(str(path), len(at), len(ends))
    next_link = shortest_paths(len(at), between, ends)
    hosts, first, routes = between_hosts(ends, next_link, after)
    names = list(at)
    return Topology(
        hosts=hosts,
        links=Links(in_ports, out_ports, np.full(len(after), np.nan)),
        routes=routes,
        router_of_host=[names[ends[end].switch] for end in first],
        origin={"how": "slurm", "file": str(path), "routes": "shortest paths"},
        problems=problems,
        source=str(path),
    )


def _groups_above(path: Path, records: list[Record], blocks: list[Record]) -> dict[str, list[str]]:
    """Blocks above each host, and groups of as many neighbouring blocks as BlockSizes has."""
    sizes = list(_block_sizes(records))
    base = sizes[0] if sizes else 1
    above: dict[str, list[str]] = {}
    names = set()
    for index, block in enumerate(blocks):
        name = block.fields["BlockName"]
        if name in names:
            raise InputError(f"{block.where}: block {name!r} has already been defined")
        names.add(name)
        groups = [
            f"blocks of {size} nodes, number {index // (size // base) + 1}"
            for size in reversed(sizes[1:])
        ]
        for host in dict.fromkeys(block.hosts("Nodes")):
            if host in above:
                raise InputError(f"{block.where}: host {host!r} is in two blocks")
            above[host] = [*groups, name]
        require_few(path, len(above))
    return above


def _block_sizes(records: list[Record]) -> Iterator[int]:
    """The sizes, the smallest first.

    Raises:
        InputError: One is no number, or no multiple of the smallest.
    """
    given = [record for record in records if "BlockSizes" in record.fields]
    texts = [text for record in given for text in record.fields["BlockSizes"].split(",") if text]
    try:
        sizes = sorted(map(int, texts))
    except ValueError:
        raise InputError(f"{given[0].where}: BlockSizes: expected whole numbers") from None
    for size in sizes:
        if size < 1 or size % sizes[0]:
            raise InputError(f"{given[0].where}: BlockSizes: {size} is no multiple of {sizes[0]}")
        yield size
