# SPDX-License-Identifier: Apache-2.0
"""An InfiniBand fabric from `ibnetdiscover`, with forwarding tables or by shortest paths."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.model.topology import Links, TableRoutes, Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["LANE_BPS", "port", "read"]

LANE_BPS = {
    **{"SDR": 2e9 / 8, "DDR": 4e9 / 8, "QDR": 8e9 / 8, "FDR10": 10e9 / 8, "FDR": 13.64e9 / 8},
    **{"EDR": 25e9 / 8, "HDR": 50e9 / 8, "NDR": 100e9 / 8, "XDR": 200e9 / 8},
}
"""Data that one lane carries: SDR to QDR lose a fifth to their 8b/10b code.

Source: IBTA, InfiniBand roadmap and specification volume 2.
"""

AGGREGATION = "Mellanox Technologies Aggregation Node"
"""What a switch computes reductions with is no host."""

_NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"[SHR]-([0-9a-f]+)"\s+#\s+"([^"]*)".*', re.A)
_PORT = re.compile(
    r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"[SHR]-([0-9a-f]+)"\[(\d+)\](?:\([0-9a-f]+\))?\s*#(.*)', re.A
)
_WIDTH = re.compile(r"(\d+)x([A-Z]+\d*)\s*$", re.A)
_LID = re.compile(r"lid (\d+) lmc", re.A)
_ATTRIBUTE = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=.*", re.A)
_TABLE_OF = re.compile(r"Unicast lids .* guid (0x[0-9a-f]+).*", re.A)
_ENTRY = re.compile(r"(0x[0-9a-f]+)\s+(\d+)\s*:.*", re.A)


@dataclasses.dataclass
class _Node:
    """A switch or an adapter."""

    guid: str
    kind: str
    description: str
    lid: int = 0


@dataclasses.dataclass(frozen=True)
class _Cable:
    """One direction of a cable."""

    src: str
    src_port: int
    dst: str
    dst_port: int
    capacity_Bps: float


def port(guid: str, number: int | str) -> str:
    """Name of a port, as counters are named: the GUID in hexadecimal without leading zeros."""
    return f"{int(guid, 16):x}:{int(number)}"


def read(path: Path, tables: Path | None = None) -> Topology:
    """The fabric.

    Args:
        path: What `ibnetdiscover` printed.
        tables: Forwarding tables of all switches, as `ibroute` prints them; None: shortest paths,
            those of equal length shared by the hosts in turn.

    Raises:
        InputError: A line is not understood, or a cable leads to nowhere.
    """
    nodes, cables, num_lost = _parsed(path)
    switches = {guid: index for index, guid in enumerate(_of_kind(nodes, "Switch"))}
    by_port = {(cable.src, cable.src_port): link for link, cable in enumerate(cables)}
    hosts = _hosts(path, nodes, cables)
    up = np.array([link for _, link in hosts], dtype=np.int32)
    switch_of_host = np.array([switches[cables[link].dst] for link in up], dtype=np.int32)
    after = np.array([switches.get(cable.dst, NO_LINK) for cable in cables], dtype=np.int32)
    back = np.array([by_port.get((cables[link].dst, cables[link].dst_port), -1) for link in up])
    if tables is None:
        next_link = _shortest(switches, cables, switch_of_host, back)
    else:
        lids = [nodes[cables[link].src].lid for link in up]
        next_link = _from_tables(tables, switches, by_port, lids)
    links = Links(
        in_ports=[port(cable.dst, cable.dst_port) for cable in cables],
        out_ports=[port(cable.src, cable.src_port) for cable in cables],
        capacity_Bps=np.array([cable.capacity_Bps for cable in cables]),
    )
    return Topology(
        hosts=[host for host, _ in hosts],
        links=links,
        routes=TableRoutes(switch_of_host, up, next_link, after),
        router_of_host=[nodes[cables[link].dst].description for link in up],
        origin={
            "how": "infiniband",
            "file": str(path),
            "routes": "shortest paths" if tables is None else str(tables),
        },
        problems=[*_lost(num_lost), *_without_way(hosts, next_link)],
        source=str(path),
    )


def _of_kind(nodes: dict[str, _Node], kind: str) -> list[str]:
    return [guid for guid, node in nodes.items() if node.kind == kind]


def _parsed(path: Path) -> tuple[dict[str, _Node], list[_Cable], int]:
    """Nodes, cables between them, and how many lead to nodes that are not described."""
    nodes: dict[str, _Node] = {}
    cables: list[_Cable] = []
    node: _Node | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.startswith("#") or _ATTRIBUTE.fullmatch(line):
            continue
        header = _NODE.fullmatch(line)
        if header:
            node = nodes.setdefault(header[2], _Node(header[2], header[1], header[3]))
            continue
        found = _PORT.fullmatch(line)
        if found is None or node is None:
            raise InputError(
                f"{path}:{number}: expected a node or a port of ibnetdiscover, got {line[:100]!r}"
            )
        if AGGREGATION in found[4]:
            continue
        width = _WIDTH.search(found[4])
        if width is None or width[2] not in LANE_BPS:
            raise InputError(
                f"{path}:{number}: expected a width and speed such as 4xHDR, got {found[4]!r}"
            )
        lid = _LID.search(found[4])
        if lid and node.kind == "Ca":
            node.lid = int(lid[1])
        capacity_Bps = int(width[1]) * LANE_BPS[width[2]]
        cables.append(_Cable(node.guid, int(found[1]), found[2], int(found[3]), capacity_Bps))
    if not cables:
        raise InputError(f"{path}: holds no cable; expected what ibnetdiscover prints")
    # Half of a file, or a node that did not answer: the cable is seen at one end only.
    seen = [cable for cable in cables if cable.dst in nodes]
    return nodes, seen, len(cables) - len(seen)


def _hosts(path: Path, nodes: dict[str, _Node], cables: list[_Cable]) -> list[tuple[str, int]]:
    """Hosts, and the link of the first adapter of each into the fabric."""
    first: dict[str, int] = {}
    for link, cable in enumerate(cables):
        node = nodes[cable.src]
        if node.kind != "Ca" or node.description.startswith(AGGREGATION):
            continue
        if nodes[cable.dst].kind != "Switch":
            continue
        first.setdefault((node.description.split() or [node.guid])[0], link)
    if not first:
        raise InputError(f"{path}: holds no adapter of a host on a switch")
    return sorted(first.items())


def _shortest(
    switches: dict[str, int],
    cables: list[_Cable],
    switch_of_host: npt.NDArray[np.int32],
    back: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """Next link of each switch towards each host, shape (S, H)."""
    num_switches, num_hosts = len(switches), len(switch_of_host)
    between = [
        (switches[cable.src], switches[cable.dst], link)
        for link, cable in enumerate(cables)
        if cable.src in switches and cable.dst in switches
    ]
    src, dst, link = np.array(between, dtype=np.int32).reshape(-1, 3).T
    graph = sp.csr_array((np.ones(len(link)), (src, dst)), shape=(num_switches, num_switches))
    distance = csgraph.shortest_path(graph, unweighted=True)
    to_host = distance[:, switch_of_host]
    next_link = np.full((num_switches, num_hosts), NO_LINK, dtype=np.int32)
    turn = np.arange(num_hosts)
    for switch in range(num_switches):
        leaving = link[src == switch]
        if leaving.size:
            # Ways of equal length are taken in turn, as subnet managers balance them.
            is_way = to_host[dst[src == switch]] == to_host[switch] - 1
            count = is_way.sum(axis=0)
            order = np.argsort(~is_way, axis=0, kind="stable")
            chosen = order[turn % np.maximum(count, 1), turn]
            next_link[switch] = np.where(count > 0, leaving[chosen], NO_LINK)
    here = switch_of_host
    next_link[here, turn] = back
    return next_link


def _from_tables(
    path: Path,
    switches: dict[str, int],
    by_port: dict[tuple[str, int], int],
    lids: list[int],
) -> npt.NDArray[np.int32]:
    """Next link of each switch towards each host, from the tables."""
    guid_of = {int(guid, 16): guid for guid in switches}
    hosts_of_lid: dict[int, list[int]] = {}
    for host, lid in enumerate(lids):
        hosts_of_lid.setdefault(lid, []).append(host)
    next_link = np.full((len(switches), len(lids)), NO_LINK, dtype=np.int32)
    guid: str | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
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
            for host in hosts_of_lid.get(lid, ()):
                if link is None:
                    raise InputError(
                        f"{path}:{number}: lid {entry[1]} leaves by port {number_of_port}, where "
                        "no cable is"
                    )
                next_link[switches[guid], host] = link
    if guid is None:
        raise InputError(f"{path}: holds no table; expected what ibroute prints")
    return next_link


def _lost(num_lost: int) -> list[str]:
    return [f"{num_lost} cables lead to nodes that the file does not describe"] if num_lost else []


def _without_way(hosts: list[tuple[str, int]], next_link: npt.NDArray[np.int32]) -> list[str]:
    """Hosts that some switch has no way to."""
    lost = np.flatnonzero((next_link == NO_LINK).any(axis=0))
    if not lost.size:
        return []
    more = f" and {lost.size - 1} more hosts" if lost.size > 1 else ""
    return [f"some switch has no way to {hosts[int(lost[0])][0]}{more}"]
