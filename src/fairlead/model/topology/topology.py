# SPDX-License-Identifier: Apache-2.0
"""Hosts, the links between them, and the routes of messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError, TopologyError
from fairlead.files.archive import Archive, save_archive
from fairlead.model.topology.links import Links
from fairlead.model.topology.rails import RailRoutes
from fairlead.model.topology.routes import HostIndex, LinkIndex, Reducer, Reduction, Routes
from fairlead.model.topology.table import TableRoutes
from fairlead.model.topology.torus import TorusRoutes
from fairlead.model.topology.tree import TreeRoutes

__all__ = ["KIND", "Topology"]

KIND = "topology"
VERSION = 1

_KINDS: dict[str, type[Routes]] = {
    routes.kind: routes for routes in (TorusRoutes, TreeRoutes, TableRoutes, RailRoutes)
}
_TABLE = {
    "switch_of_host": (-1,),
    "link_from_host": (-1,),
    "next_link": (-1, -1),
    "switch_after_link": (-1,),
}
_ARRAYS_OF_KIND: dict[str, dict[str, tuple[int, ...]]] = {
    "torus": {"position_of_host": (-1, -1), "link_of_step": (), "is_ring": (-1,)},
    "tree": {"parent_of_vertex": (-1,), "num_hosts": (1,)},
    TableRoutes.kind: _TABLE,
    RailRoutes.kind: {**_TABLE, "adapter_of_rail": (-1, -1)},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Topology:
    """Where messages go.

    Attributes:
        hosts: Host names, length H.
        links: The directed links.
        routes: Which of them a message takes.
        router_of_host: Name of the router or switch next to each host, length H.
        coordinates: Coordinates of the hosts, shape (H, D), or None: where there are none.
        nic_Bps: What each host's interface carries, each way, shape (H,); `nan` where unknown, or
            None: unknown, or the cables of hosts are links themselves.
        origin: Where it comes from: a JSON-serialisable dictionary.
        problems: What is wrong with it and left its routes usable: one line each.
        source: What errors call it: the file it was read from.
        port_aliases: Further names of ports, as other counters call them, and the port of each.
    """

    hosts: Sequence[str]
    links: Links
    routes: Routes
    router_of_host: Sequence[str]
    coordinates: npt.NDArray[np.float64] | None = None
    nic_Bps: npt.NDArray[np.float64] | None = None
    origin: dict[str, Any] = dataclasses.field(default_factory=dict)
    problems: Sequence[str] = ()
    source: str = "this topology"
    port_aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("hosts", "router_of_host", "problems"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.hosts or len(set(self.hosts)) != len(self.hosts):
            raise TopologyError("topology: hosts: expected at least one, each named once")
        if len(self.router_of_host) != len(self.hosts):
            raise ShapeError(
                f"topology: {len(self.hosts)} hosts, but routers of {len(self.router_of_host)}"
            )
        if self.nic_Bps is not None:
            self._check_interfaces(self.nic_Bps)
        object.__setattr__(
            self, "_index_of_host", {host: index for index, host in enumerate(self.hosts)}
        )

    def _check_interfaces(self, nic_Bps: npt.NDArray[np.float64]) -> None:
        if nic_Bps.shape != (self.num_hosts,):
            raise ShapeError(
                f"topology: nic_Bps: expected shape {(self.num_hosts,)}, got {nic_Bps.shape}"
            )
        if np.any(nic_Bps <= 0):
            raise InputError("topology: nic_Bps: every value must be > 0, or nan")

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    def indices(self, hosts: Sequence[str]) -> HostIndex:
        """Positions of hosts.

        Raises:
            TopologyError: One of them is not in the topology.
        """
        known: dict[str, int] = self._index_of_host  # type: ignore[attr-defined]
        try:
            return np.array([known[host] for host in hosts], dtype=np.int64)
        except KeyError as error:
            raise TopologyError(
                f"host {error.args[0]!r} is not in {self.source}, which has {self.num_hosts} hosts"
            ) from None

    def route(self, src: str, dst: str) -> LinkIndex:
        """Links from host to host, in their order; -1 where one is missing."""
        one, other = self.indices([src, dst]).tolist()
        return self.routes.route(one, other)

    def hops(self) -> Reducer:
        """Counts the links of routes, missing ones included."""
        return self.routes.reducer(np.ones(self.links.num_links + 1), Reduction.sum)

    def known_hops(self) -> Reducer:
        """Counts the links of routes; `nan` where a link is missing or there is no route."""
        is_link = np.append(np.ones(self.links.num_links), np.nan)
        return self.routes.reducer(is_link, Reduction.sum)

    def save(self, path: Path | str) -> None:
        """Write a `.topo.npz` file; it appears whole or not at all."""
        arrays = {"capacity_Bps": self.links.capacity_Bps, "num_lanes": self.links.num_lanes}
        if self.coordinates is not None:
            arrays["coordinates"] = self.coordinates
        if self.nic_Bps is not None:
            arrays["nic_Bps"] = self.nic_Bps
        meta = {
            "hosts": list(self.hosts),
            "router_of_host": list(self.router_of_host),
            "in_ports": list(self.links.in_ports),
            "out_ports": list(self.links.out_ports),
            "routes": self.routes.kind,
            "problems": list(self.problems),
            "port_aliases": dict(self.port_aliases),
            "origin": self.origin,
        }
        save_archive(path, KIND, VERSION, meta, {**arrays, **self.routes.arrays()})

    @classmethod
    def load(cls, path: Path | str) -> Topology:
        """Read a `.topo.npz` file.

        Raises:
            InputError: The file is missing, damaged, of another kind or version, or holds an
                impossible value; the message names file and field.
        """
        names = {"capacity_Bps", "num_lanes", "coordinates", "nic_Bps"}
        names |= {name for arrays in _ARRAYS_OF_KIND.values() for name in arrays}
        archive = Archive(path, KIND, VERSION, names)
        texts = {name: _texts(archive, name) for name in ("hosts", "router_of_host", "in_ports")}
        texts["out_ports"] = _texts(archive, "out_ports")
        kind = archive.meta_field("routes", str)
        if kind not in _KINDS:
            raise archive.error("meta.routes", f"unknown kind {kind!r}")
        num_hosts, num_links = len(texts["hosts"]), len(texts["in_ports"])
        coordinates = (
            archive.array("coordinates", (num_hosts, -1)) if "coordinates" in archive else None
        )
        nic_Bps = archive.array("nic_Bps", (num_hosts,)) if "nic_Bps" in archive else None
        try:
            links = Links(
                in_ports=texts["in_ports"],
                out_ports=texts["out_ports"],
                capacity_Bps=archive.array("capacity_Bps", (num_links,)),
                num_lanes=archive.array("num_lanes", (num_links,), is_whole=True),
            )
            return cls(
                hosts=texts["hosts"],
                links=links,
                routes=_KINDS[kind].from_arrays(_arrays(archive, kind), num_links),
                router_of_host=texts["router_of_host"],
                coordinates=coordinates,
                nic_Bps=nic_Bps,
                origin=archive.meta_field("origin", dict),
                problems=_texts(archive, "problems"),
                source=str(path),
                port_aliases=_aliases(archive),
            )
        except InputError as error:
            if str(error).startswith(str(archive.path)):
                raise
            raise InputError(f"{archive.path}: {error}") from error


def _arrays(archive: Archive, kind: str) -> dict[str, npt.NDArray[Any]]:
    found: dict[str, npt.NDArray[Any]] = {}
    for name, shape in _ARRAYS_OF_KIND[kind].items():
        # The links of a torus have two axes more than it has dimensions.
        axes = shape or (-1,) * (2 + found["position_of_host"].shape[1])
        found[name] = archive.array(name, axes, is_whole=True)
    return found


def _aliases(archive: Archive) -> dict[str, str]:
    """Further names of ports; a file of before they were kept has none."""
    if "port_aliases" not in archive.meta:
        return {}
    aliases: dict[str, str] = archive.meta_field("port_aliases", dict)
    if not all(isinstance(port, str) for port in aliases.values()):
        raise archive.error("meta.port_aliases", "expected names of ports")
    return aliases


def _texts(archive: Archive, name: str) -> list[str]:
    texts: list[str] = archive.meta_field(name, list)
    if not all(isinstance(text, str) for text in texts):
        raise archive.error(f"meta.{name}", "expected a list of names")
    return texts
