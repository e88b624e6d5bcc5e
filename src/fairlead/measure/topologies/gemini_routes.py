# SPDX-License-Identifier: Apache-2.0
"""Routes as `rtr --phys-routes` prints them, in place of those by rule."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.topologies.gemini_nodes import Position
from fairlead.model.topology import TableRoutes, Topology, TorusRoutes
from fairlead.model.topology.routes import NO_LINK

__all__ = ["with_routes"]

# No separator stands between a cname and its tiles; a digit for the Gemini, two for a tile.
_ROUTER = re.compile(r"[\d,\s-]*?(c\d+-\d+c\d+s\d+g\d)[\s\[l]*[\d,\s\]-]*", re.A)
_LINE_BREAK = re.compile(r"\s*(->|,)[ \t]*\n\s*|[ \t]*\n\s*(->)\s*")


def with_routes(
    topology: Topology,
    path: Path,
    position_of: Mapping[str, Position],
    link_between: Mapping[tuple[str, str], int],
) -> Topology:
    """The topology with these routes where they differ from the rule.

    Args:
        topology: A torus with routes by rule.
        path: What `rtr --phys-routes` printed.
        position_of: Coordinates of each router.
        link_between: Link from router to router.

    Raises:
        InputError: A route names a router or link that is not there, or two routes to one router
            part.
    """
    torus = topology.routes
    assert isinstance(torus, TorusRoutes)
    routers = sorted(position_of, key=lambda name: position_of[name])
    index_of = {name: index for index, name in enumerate(routers)}
    positions = np.array([position_of[name] for name in routers])
    by_rule = TorusRoutes(torus.sizes, positions, torus.link_of_step, torus.is_ring)
    listed: dict[tuple[int, int], int] = {}
    num_routes = num_others = 0
    for where, names in _routes(path):
        links = _links(where, names, link_between)
        src, dst = index_of[names[0]], index_of[names[-1]]
        num_routes += 1
        num_others += list(by_rule.route(src, dst)) != links
        for name, link in zip(names, links, strict=False):
            if listed.setdefault((index_of[name], dst), link) != link:
                raise InputError(f"{where}: leaves {name} by another link than an earlier route")
    origin = {**topology.origin, "routes": str(path), "num_routes": num_routes}
    origin["num_routes_not_by_rule"] = num_others
    if not num_others:
        return dataclasses.replace(topology, origin=origin)
    next_link = np.full((len(routers), len(routers)), NO_LINK, dtype=np.int32)
    for dst in range(len(routers)):
        next_link[:, dst] = _first_links(by_rule, positions, dst)
    for (router, dst), link in listed.items():
        next_link[router, dst] = link
    switch_of_host = np.array([index_of[name] for name in topology.router_of_host])
    after = np.full(topology.links.num_links, NO_LINK, dtype=np.int32)
    for (_, dst_name), link in link_between.items():
        after[link] = index_of[dst_name]
    routes = TableRoutes(
        switch_of_host,
        np.full(topology.num_hosts, NO_LINK),
        next_link[:, switch_of_host],
        after,
    )
    return dataclasses.replace(topology, origin=origin, routes=routes)


def _first_links(
    by_rule: TorusRoutes, positions: np.typing.NDArray[np.int64], dst: int
) -> np.typing.NDArray[np.int32]:
    """Link by which a message to one router leaves each router, by the rule."""
    first = np.full(len(positions), NO_LINK, dtype=np.int32)
    for dimension in reversed(range(positions.shape[1])):
        steps = by_rule.steps(dimension)[positions[:, dimension], positions[dst, dimension]]
        link = by_rule.link_of_step[(dimension, (steps < 0).astype(int), *positions.T)]
        first = np.where(steps != 0, link, first)
    return first


def _routes(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Where each route stands, and the names of its routers."""
    text = _LINE_BREAK.sub(lambda found: f" {found[1] or found[2]} ", read_text(path))
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path}: holds no route; expected what rtr --phys-routes prints")
    for number, line in enumerate(lines, 1):
        where = f"{path}: route {number}"
        names = []
        for piece in line.split("->"):
            found = _ROUTER.fullmatch(piece.strip())
            if found is None:
                raise InputError(
                    f"{where}: expected tiles, a cname and tiles, got {piece.strip()[:80]!r}"
                )
            names.append(found[1])
        yield where, names


def _links(where: str, names: list[str], link_between: Mapping[tuple[str, str], int]) -> list[int]:
    """Links of a route."""
    links = []
    for src, dst in itertools.pairwise(names):
        if (src, dst) not in link_between:
            raise InputError(f"{where}: there is no link from {src} to {dst}")
        links.append(link_between[src, dst])
    return links
