# SPDX-License-Identifier: Apache-2.0
"""Which Gemini each node of a Cray sits on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines

__all__ = ["Gemini", "Position", "read_nodes"]

NODES_OF_GEMINI = 2
"""Nodes 0 and 1 of a blade are on its Gemini 0, 2 and 3 on its Gemini 1."""


class Position(NamedTuple):
    """Coordinates of a router."""

    x: int
    y: int
    z: int


class Gemini(NamedTuple):
    """A router.

    Attributes:
        name: Its cname, `c0-0c0s0g0`.
        position: Its coordinates.
    """

    name: str
    position: Position


_OF_XTPROCADMIN = re.compile(
    r"\s*(\d+)\s+\(?0x[0-9a-fA-F]+\)?\s+(c\d+-\d+c\d+s\d+)n(\d)\s+(\w+)\b.*", re.A
)
_OF_LDMS = re.compile(r"(\w[^/\s:]*)/\S+: consistent.*", re.A)
_COORDINATE = re.compile(
    r"\s*(?:[MD]\s+)?[UuSs]64\s+(?:(\d+)\s+)?nettopo_mesh_coord_([XYZ])(?:\s+(\d+))?\s*", re.A
)


def read_nodes(path: Path | None, position_of: Mapping[str, Position]) -> list[tuple[str, Gemini]]:
    """Hosts and their Geminis.

    Args:
        path: What `xtprocadmin` or `ldms_ls -l` printed; None: two nodes for every Gemini, named
            by their cnames.
        position_of: Coordinates of each Gemini.

    Raises:
        InputError: No node is found, or one is on a Gemini that is not there.
    """
    if path is None:
        return [
            (f"{name[:-2]}n{NODES_OF_GEMINI * int(name[-1]) + node}", Gemini(name, position))
            for name, position in sorted(position_of.items(), key=lambda item: item[1])
            for node in range(NODES_OF_GEMINI)
        ]
    hosts = _by_coordinates(path, position_of) or _by_cname(path, position_of)
    if not hosts:
        raise InputError(f"{path}: holds no node; expected what xtprocadmin or ldms_ls -l prints")
    return hosts


def _by_cname(path: Path, position_of: Mapping[str, Position]) -> list[tuple[str, Gemini]]:
    hosts = []
    for number, line in enumerate(read_lines(path), 1):
        found = _OF_XTPROCADMIN.fullmatch(line)
        if found is None or found[4] != "compute":
            continue
        gemini = f"{found[2]}g{int(found[3]) // NODES_OF_GEMINI}"
        if gemini not in position_of:
            raise InputError(f"{path}:{number}: node {found[1]} is on {gemini}, which is not there")
        hosts.append((f"nid{int(found[1]):05d}", Gemini(gemini, position_of[gemini])))
    return hosts


def _by_coordinates(path: Path, position_of: Mapping[str, Position]) -> list[tuple[str, Gemini]]:
    name_at = {position: name for name, position in position_of.items()}
    found_at: dict[str, dict[str, int]] = {}
    host = ""
    for line in read_lines(path):
        header = _OF_LDMS.fullmatch(line)
        if header:
            host = header[1]
        coordinate = _COORDINATE.fullmatch(line)
        if coordinate and host:
            value = int(coordinate[1] or coordinate[3] or 0)
            found_at.setdefault(host, {})[coordinate[2]] = value
    hosts = []
    for name, at in found_at.items():
        if len(at) < len("XYZ"):
            raise InputError(f"{path}: {name}: has not all of its three coordinates")
        position = Position(at["X"], at["Y"], at["Z"])
        if position not in name_at:
            raise InputError(f"{path}: {name}: is at {tuple(position)}, where no router is")
        hosts.append((name, Gemini(name_at[position], position)))
    return hosts
