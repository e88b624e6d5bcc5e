# SPDX-License-Identifier: Apache-2.0
"""A Cray Gemini torus from what `rtr` prints of it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.gemini_nodes import Position, read_nodes
from fairlead.measure.topologies.gemini_routes import with_routes
from fairlead.model.topology import Links, Topology, TorusRoutes, port_name
from fairlead.model.topology.routes import NO_LINK

__all__ = ["NIC_BPS", "TILE_BPS", "read"]

TILE_BPS = {
    "mezzanine": 6.25e9 * 3 / 8,
    "backplane": 5.0e9 * 3 / 8,
    "cable": 3.125e9 * 3 / 8,
}
"""What one tile carries: its transfers a second times three lanes, by the medium.

Source: LDMS, sampler cray_system_sampler, constants of link types.
"""

NIC_BPS = 6e9
"""Rate of a node, each way.

Source: Alverson, Roweth, Kaplan, The Gemini System Interconnect (2010).
"""

DIRECTIONS = ("X+", "X-", "Y+", "Y-", "Z+", "Z-")
OPPOSITE = {"+": "-", "-": "+"}
MOST_PLACES = 2**20
"""Routers of a torus. The largest of a Gemini has 13,824 (Blue Waters)."""

MOST_NAMED = 4
"""Missing routers that are named one by one."""

_END = r"(c\d+-\d+c\d+s\d+g\d)\s*l?(\d\d)\[\((\d+),(\d+),(\d+)\)\]"
_LINE = re.compile(rf"\s*{_END}\s+([XYZ][+-])\s+->\s+{_END}\s+LinkType:\s*([a-z]+)\w*\s*", re.A)
_OF_NIC = re.compile(r".*LinkType:\s*nic\b.*", re.A)


@dataclasses.dataclass
class _Link:
    """Tiles of one router in one direction."""

    dst: str
    capacity_Bps: float = 0.0
    num_tiles: int = 0


def read(interconnect: Path, nodes: Path | None = None, routes: Path | None = None) -> Topology:
    """The torus.

    Args:
        interconnect: What `rtr --interconnect` printed.
        nodes: What `xtprocadmin` or `ldms_ls -l` printed, or None: both nodes of every Gemini, by
            their cnames.
        routes: What `rtr --phys-routes` printed, or None: routes by rule.

    Raises:
        InputError: A line is not understood or contradicts another.
    """
    position_of, tiles = _parse(interconnect)
    sizes = tuple(int(most) + 1 for most in np.array(list(position_of.values())).max(axis=0))
    if math.prod(sizes) > MOST_PLACES:
        raise InputError(f"{interconnect}: a torus of {sizes} has more than {MOST_PLACES} routers")
    hosts = read_nodes(nodes, position_of)
    in_ports: list[str] = []
    out_ports: list[str] = []
    capacity_Bps: list[float] = []
    num_lanes: list[int] = []
    link_of_step = np.full((3, 2, *sizes), NO_LINK, dtype=np.int32)
    is_ring = [False] * 3
    link_between: dict[tuple[str, str], int] = {}
    for (gemini, direction), link in tiles.items():
        src, dst = position_of[gemini], position_of[link.dst]
        dimension = "XYZ".index(direction[0])
        step = 1 if direction[1] == "+" else -1
        expected = list(src)
        expected[dimension] = (src[dimension] + step) % sizes[dimension]
        if tuple(expected) != dst:
            ends = [", ".join(map(str, map(int, place))) for place in (src, dst, expected)]
            raise InputError(
                f"{interconnect}: {direction} of {gemini} at ({ends[0]}) leads to {link.dst} at "
                f"({ends[1]}), not to ({ends[2]})"
            )
        if sizes[dimension] > 2:
            is_ring[dimension] |= (dst[dimension] - src[dimension]) * step < 0
        link_of_step[(dimension, int(step < 0), *src)] = len(in_ports)
        link_between.setdefault((gemini, link.dst), len(in_ports))
        # The counter of a link is at its receiving end: what came in by X- was sent by X+
        # (ORACLE's example of nid00050).
        in_ports.append(port_name(dst, direction[0] + OPPOSITE[direction[1]]))
        out_ports.append(port_name(src, direction))
        capacity_Bps.append(link.capacity_Bps)
        num_lanes.append(link.num_tiles)
    topology = Topology(
        hosts=[host for host, _ in hosts],
        links=Links(in_ports, out_ports, np.array(capacity_Bps), np.array(num_lanes)),
        routes=TorusRoutes(sizes, [gemini.position for _, gemini in hosts], link_of_step, is_ring),
        router_of_host=[gemini.name for _, gemini in hosts],
        coordinates=np.array([gemini.position for _, gemini in hosts], dtype=np.float64),
        nic_Bps=np.full(len(hosts), NIC_BPS),
        origin={"how": "gemini", "file": str(interconnect), "sizes": [int(size) for size in sizes]},
        problems=[*_find_missing(position_of, sizes), *_one_way(in_ports, out_ports)],
        source=str(interconnect),
    )
    return topology if routes is None else with_routes(topology, routes, position_of, link_between)


def _parse(path: Path) -> tuple[dict[str, Position], dict[tuple[str, str], _Link]]:
    """Position of each Gemini, and its links by direction."""
    position_of: dict[str, Position] = {}
    gemini_at: dict[Position, str] = {}
    links: dict[tuple[str, str], _Link] = {}
    for number, found in _lines(path):
        src, dst, medium, direction = found[1], found[7], found[12], found[6]
        for name, groups in ((src, (3, 4, 5)), (dst, (9, 10, 11))):
            position = Position(*(int(found[group]) for group in groups))
            if position_of.setdefault(name, position) != position:
                raise InputError(
                    f"{path}:{number}: {name} is at {tuple(position)}, but was at "
                    f"{tuple(position_of[name])}"
                )
            if gemini_at.setdefault(position, name) != name:
                raise InputError(
                    f"{path}:{number}: {name} is at {tuple(position)}, where "
                    f"{gemini_at[position]} is"
                )
        if medium not in TILE_BPS:
            raise InputError(
                f"{path}:{number}: unknown medium {medium!r}; there are {', '.join(TILE_BPS)}"
            )
        link = links.setdefault((src, direction), _Link(dst))
        if link.dst != dst:
            raise InputError(
                f"{path}:{number}: {direction} of {src} leads to {dst}, but led to {link.dst}"
            )
        link.capacity_Bps += TILE_BPS[medium]
        link.num_tiles += 1
    if not links:
        raise InputError(f"{path}: holds no link; expected what rtr --interconnect prints")
    return position_of, links


def _lines(path: Path) -> Iterator[tuple[int, re.Match[str]]]:
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or _OF_NIC.fullmatch(line):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(
                f"{path}:{number}: expected c0-0c0s0g0l00[(0,0,0)] X+ -> c0-0c1s0g0l02[(1,0,0)] "
                f"LinkType: cable, got {line[:100]!r}"
            )
        yield number, found


def _find_missing(position_of: dict[str, Position], sizes: tuple[int, ...]) -> list[str]:
    """Routers that the grid has no name for."""
    there = set(position_of.values())
    missing = [place for place in np.ndindex(*sizes) if place not in there]
    if not missing:
        return []
    named = ", ".join(str(tuple(map(int, place))) for place in missing[:MOST_NAMED])
    more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
    return [f"no router at {named}{more}: what routes through there meet is unknown"]


def _one_way(in_ports: list[str], out_ports: list[str]) -> list[str]:
    """Links that have no link back."""
    single = set(out_ports) ^ set(in_ports)
    return [f"{len(single)} links have no link back"] if single else []
