# SPDX-License-Identifier: Apache-2.0
"""A torus without gaps, whose ports are named as a Gemini's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.model.topology.links import Links
from fairlead.model.topology.routes import NO_LINK
from fairlead.model.topology.topology import Topology
from fairlead.model.topology.torus import TorusRoutes

__all__ = ["port_name", "whole_torus"]

AXES = "XYZ"


def port_name(place: Sequence[int], direction: str) -> str:
    """Name of a port of a router, as counters are named: `1,0,6 X-`."""
    return f"{','.join(str(int(at)) for at in place)} {direction}"


def whole_torus(
    sizes: Sequence[int],
    hosts: Sequence[str],
    capacity_Bps: Sequence[float],
    nic_Bps: Sequence[float] | None = None,
) -> Topology:
    """A torus with as many hosts on each router.

    Args:
        sizes: Routers in each dimension, 1 to 3 of them; two routers in a line have one cable
            between them and are no ring.
        hosts: Those of the first router come first; the last dimension of routers runs fastest.
        capacity_Bps: Capacity of the links of each dimension, length D.
        nic_Bps: Rate of each host's interface, length H, or None: unknown.

    Raises:
        InputError: The hosts cannot be shared out evenly.
    """
    places = list(np.ndindex(*sizes))
    if not hosts or len(hosts) % len(places):
        raise InputError(f"torus: {len(hosts)} hosts cannot be shared out on {len(places)} routers")
    link_of_step = np.full((len(sizes), 2, *sizes), NO_LINK, dtype=np.int32)
    in_ports: list[str] = []
    out_ports: list[str] = []
    capacities: list[float] = []
    for dimension, size in enumerate(sizes):
        for minus, step in enumerate((1, -1) if size > 1 else ()):
            for place in places:
                if size == 2 and (place[dimension] == 0) != (step > 0):
                    continue
                other = list(place)
                other[dimension] = (place[dimension] + step) % size
                link_of_step[(dimension, minus, *place)] = len(in_ports)
                axis = AXES[dimension]
                out_ports.append(port_name(place, axis + "+-"[minus]))
                in_ports.append(port_name(other, axis + "-+"[minus]))
                capacities.append(capacity_Bps[dimension])
    each = len(hosts) // len(places)
    at: npt.NDArray[np.int32] = np.repeat(np.array(places, dtype=np.int32), each, axis=0)
    return Topology(
        hosts=list(hosts),
        links=Links(in_ports, out_ports, np.array(capacities)),
        routes=TorusRoutes(tuple(sizes), at, link_of_step, [size > 2 for size in sizes]),
        router_of_host=[",".join(map(str, place)) for place in places for _ in range(each)],
        coordinates=at.astype(np.float64),
        nic_Bps=None if nic_Bps is None else np.array(nic_Bps, dtype=np.float64),
        origin={"how": "torus", "sizes": [int(size) for size in sizes]},
    )
