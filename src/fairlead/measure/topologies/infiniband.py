# SPDX-License-Identifier: Apache-2.0
"""An InfiniBand fabric from `ibnetdiscover`, with forwarding tables or by shortest paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.infiniband_hosts import (
    Adapter,
    adapters_of_hosts,
    port_aliases,
    switch_names,
)
from fairlead.measure.topologies.infiniband_text import Fabric, parse_fabric
from fairlead.measure.topologies.shortest_paths import (
    End,
    between_hosts,
    name_rails,
    name_unreached,
    require_table,
    shortest_paths,
)
from fairlead.model.topology import Links, Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["port", "read"]

_TABLE_OF = re.compile(r"Unicast lids .* guid (0x[0-9a-f]+).*", re.A)
_ENTRY = re.compile(r"(0x[0-9a-f]+)\s+(\d+)\s*:.*", re.A)


def port(guid: str, number: int | str) -> str:
    """Name of a port, as counters are named: the GUID in hexadecimal without leading zeros."""
    return f"{int(guid, 16):x}:{int(number)}"


def read(
    path: Path,
    tables: Path | None = None,
    parse: Callable[[Path], Fabric] = parse_fabric,
) -> Topology:
    """The fabric.

    Args:
        path: What `ibnetdiscover` printed.
        tables: Forwarding tables of all switches, as `ibroute` prints them; None: shortest paths,
            those of equal length shared by the hosts in turn.
        parse: Reads nodes and cables; of another form.

    Raises:
        InputError: The file holds no cable, or a table contradicts it.
    """
    fabric = parse(path)
    adapters, names = adapters_of_hosts(fabric)
    if not adapters:
        raise InputError(f"{path}: holds no adapter of a host on a switch")
    cables = fabric.cables
    switches = {
        guid: index
        for index, guid in enumerate(g for g, n in fabric.nodes.items() if n.kind == "Switch")
    }
    require_table(str(path), len(switches), len(adapters))
    by_port = {(cable.src, cable.src_port): link for link, cable in enumerate(cables)}
    ends = _ends(fabric, adapters, switches, by_port)
    if tables is None:
        between = [
            (switches[cable.src], switches[cable.dst], link)
            for link, cable in enumerate(cables)
            if cable.src in switches and cable.dst in switches
        ]
        next_link = shortest_paths(len(switches), between, ends)
    else:
        lids = [fabric.nodes[cables[end.up].src].lid for end in ends]
        next_link = _from_tables(tables, switches, by_port, lids)
    after = [switches.get(cable.dst, NO_LINK) for cable in cables]
    hosts, first, routes = between_hosts(ends, next_link, after)
    links = Links(
        in_ports=[port(cable.dst, cable.dst_port) for cable in cables],
        out_ports=[port(cable.src, cable.src_port) for cable in cables],
        capacity_Bps=np.array([cable.capacity_Bps for cable in cables]),
    )
    switch_name = switch_names(fabric)
    return Topology(
        hosts=hosts,
        links=links,
        routes=routes,
        router_of_host=[switch_name[cables[ends[end].up].dst] for end in first],
        origin={
            "how": "infiniband",
            "file": str(path),
            "routes": "shortest paths" if tables is None else str(tables),
        },
        problems=[*fabric.problems, *names, *name_rails(ends), *name_unreached(ends, next_link)],
        source=str(path),
        port_aliases=port_aliases(adapters, dict(enumerate(links.out_ports))),
    )


def _ends(
    fabric: Fabric,
    adapters: Sequence[Adapter],
    switches: Mapping[str, int],
    by_port: Mapping[tuple[str, int], int],
) -> list[End]:
    ends = []
    for adapter in adapters:
        cable = fabric.cables[adapter.link]
        down = by_port.get((cable.dst, cable.dst_port), NO_LINK)
        ends.append(End(adapter.host, switches[cable.dst], adapter.link, down))
    return ends


def _from_tables(
    path: Path,
    switches: Mapping[str, int],
    by_port: Mapping[tuple[str, int], int],
    lids: list[int],
) -> npt.NDArray[np.int32]:
    """Next link of each switch towards each adapter, from the tables."""
    guid_of = {int(guid, 16): guid for guid in switches}
    ends_of_lid: dict[int, list[int]] = {}
    for end, lid in enumerate(lids):
        ends_of_lid.setdefault(lid, []).append(end)
    next_link = np.full((len(switches), len(lids)), NO_LINK, dtype=np.int32)
    guid: str | None = None
    for number, line in enumerate(read_lines(path), 1):
        header, entry = _TABLE_OF.fullmatch(line), _ENTRY.fullmatch(line.strip())
        if header:
            guid = guid_of.get(int(header[1], 16))
            if guid is None:
                raise InputError(f"{path}:{number}: switch {header[1]} is not in the fabric")
        elif entry:
            if guid is None:
                raise InputError(f"{path}:{number}: an entry stands before the first switch")
            lid, number_of_port = int(entry[1], 16), int(entry[2])
            link = by_port.get((guid, number_of_port))
            for end in ends_of_lid.get(lid, ()):
                if link is None:
                    raise InputError(
                        f"{path}:{number}: lid {entry[1]} leaves by port {number_of_port}, where "
                        "no cable is"
                    )
                next_link[switches[guid], end] = link
    if guid is None:
        raise InputError(f"{path}: holds no table; expected what ibroute prints")
    return next_link
