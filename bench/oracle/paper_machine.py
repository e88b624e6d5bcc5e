# SPDX-License-Identifier: Apache-2.0
"""ORACLE's machine, nodes, pairs and program, as sections II and IV give them.

The paper prints numbers of some nodes with their router; the numbering that follows from them is in
`router_of`. Links: a Gemini has 8 tiles for each direction in X and in Z, 4 in Y. Of the media it
prints those of 0,0,0: backplane by Z+, cable11x by X+ (section III-B). In Y a cable is assumed, as
a link in Y carries less at most than one in X or Z (section IV-B): a mezzanine link would carry as
much as a cable in X.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairlead.measure.topologies.gemini import NIC_BPS, TILE_BPS
from fairlead.model.topology import Topology, whole_torus

SIZES = (2, 2, 8)
NUM_NODES = 64
LINK_BPS = (8 * TILE_BPS["cable"], 4 * TILE_BPS["cable"], 8 * TILE_BPS["backplane"])
"""Links in X, Y and Z."""

PAIRS = ((16, 40), (48, 42), (12, 38))
"""Nodes that stream to one another (section IV-B)."""

APPLICATION = (17, 18, 19, 24, 32, 33, 34, 35, 39, 41, 43, 44, 45, 49, 50, 51)
"""Nodes of the program (section IV-B), in the launcher's order."""

RANKS_OF_NODE = 4
GRID = (4, 4, 4)
POINTS_OF_SIDE, NUM_VECTORS = 5, 100
FACE_BYTES = POINTS_OF_SIDE**2 * NUM_VECTORS * 8.0
"""A message: 5 x 5 x 100 doubles (section IV-A)."""

NUM_PRODUCTS = 10_000

Place = tuple[int, int, int]
Sent = tuple[int, int, float]


def router_of(node: int) -> Place:
    """Coordinates of the router of a node."""
    z = node % 16 // 2
    places: tuple[Place, ...] = ((0, 0, z), (0, 1, 7 - z), (1, 1, z), (1, 0, 7 - z))
    return places[node // 16]


def name_of(node: int) -> str:
    return f"nid{node:05d}"


def machine() -> Topology:
    """The torus of 32 routers with two nodes each."""
    nodes_at: dict[Place, list[int]] = {}
    for node in range(NUM_NODES):
        nodes_at.setdefault(router_of(node), []).append(node)
    hosts = [name_of(node) for place in np.ndindex(*SIZES) for node in nodes_at[place]]
    return whole_torus(SIZES, hosts, LINK_BPS, [NIC_BPS] * NUM_NODES)


def host_of_rank() -> list[str]:
    """Hosts of the program without a mapping: ranks fill the nodes in their order."""
    return [name_of(node) for node in APPLICATION for _ in range(RANKS_OF_NODE)]


def task_coordinates() -> list[list[float]]:
    """Mean grid coordinates of each task's points (section V)."""
    middle = (POINTS_OF_SIDE - 1) / 2
    return [[POINTS_OF_SIDE * at + middle for at in place] for place in np.ndindex(*GRID)]


def sent_by_tasks() -> list[Sent]:
    """Sending task, receiving task and bytes of each message of a product."""
    sent = []
    for place in np.ndindex(*GRID):
        for dimension in range(3):
            for step in (-1, 1):
                other = list(place)
                other[dimension] += step
                if 0 <= other[dimension] < GRID[dimension]:
                    src, dst = (int(np.ravel_multi_index(at, GRID)) for at in (place, tuple(other)))
                    sent.append((src, dst, FACE_BYTES))
    return sent


def messages_between(host_of_task: Sequence[str]) -> dict[tuple[str, str], int]:
    """Number of a product's messages between each two nodes."""
    messages: dict[tuple[str, str], int] = {}
    for src, dst, _ in sent_by_tasks():
        pair = (host_of_task[src], host_of_task[dst])
        if pair[0] != pair[1]:
            messages[pair] = messages.get(pair, 0) + 1
    return messages
