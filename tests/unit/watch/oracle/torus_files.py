# SPDX-License-Identifier: Apache-2.0
"""A torus and its counters as files, as several tests need them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import Topology

Place = tuple[int, int, int]

NEWEST_S = 1421248080.0
"""Newest time of the samples, by the clock of this host."""


def interconnect(*sizes: int) -> str:
    """What rtr --interconnect prints of a whole torus with a tile for each link."""
    lines = []
    for place in np.ndindex(*sizes):
        for dimension, axis in enumerate("XYZ"):
            for sign, step in (("+", 1), ("-", -1)):
                other = list(place)
                other[dimension] = (place[dimension] + step) % sizes[dimension]
                ends = [f"c{x}-0c0s{z}g{y}l00[({x},{y},{z})]" for x, y, z in (place, tuple(other))]
                lines.append(f"{ends[0]} {axis}{sign} -> {ends[1]} LinkType: cable11x")
    return "\n".join(lines) + "\n"


def host(x: int, y: int, z: int) -> str:
    """The first node on a Gemini."""
    return f"c{x}-0c0s{z}n{2 * y}"


def topology(folder: Path, *sizes: int) -> Topology:
    file = folder / "interconnect.txt"
    file.write_text(interconnect(*sizes))
    return import_topology("gemini", Given(file))


def shares(stalled: Mapping[tuple[Place, str], float], update: str = "15:08:00") -> str:
    """What ldms_ls -l prints of routers that report the share of time stalled, in percent."""
    text = ""
    for number, ((place, direction), share) in enumerate(stalled.items()):
        text += f"nid{number:05d}/cray_gemini_r_sampler: consistent, last update: "
        text += f"Wed Jan 14 {update} 2015 +0000 [0us]\n"
        for axis, coordinate in zip("XYZ", place, strict=True):
            text += f"U64 {coordinate}    nettopo_mesh_coord_{axis}\n"
        percent = round(share * 100e6)
        text += f"U64 {percent}   {direction}_SAMPLE_GEMINI_LINK_CREDIT_STALL (% x1e6)\n"
    return text
