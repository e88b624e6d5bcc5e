# SPDX-License-Identifier: Apache-2.0
"""NVIDIA UFM: links as its REST API has them, and the systems that their ends are in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fairlead.errors import InputError
from fairlead.measure.topologies import infiniband
from fairlead.measure.topologies.documents import as_text, read_elements, require_few
from fairlead.measure.topologies.infiniband_text import (
    MOST_SHOWN,
    Cable,
    Fabric,
    Node,
    Passed,
    require_fabric,
)
from fairlead.model.topology import Topology

__all__ = ["parse_links", "read"]

KINDS = {"switch": "Switch", "host": "Ca"}
"""Types of systems; others, such as gateways, are neither."""

MOST_GUIDS = 4
"""GUIDs of a system on the average."""

_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})", re.A)
_PORT = re.compile(r"((?:0x)?[0-9a-fA-F]{1,16})_(\d+)", re.A)
_OF_HOST = re.compile(r"(HCA-\d+)/\d+", re.A)
_OF_SWITCH = re.compile(r"(.+):[\w/]+", re.A)


class System(NamedTuple):
    """A switch or a host, as UFM calls it.

    Attributes:
        name: Its name.
        kind: As in a fabric.
    """

    name: str
    kind: str


def read(path: Path, systems: Path | None = None) -> Topology:
    """The fabric, by shortest paths.

    Args:
        path: What GET /ufmRest/resources/links has answered.
        systems: What GET /ufmRest/resources/systems has answered; None: hosts and switches are
            known by the names and descriptions of their ports.

    Raises:
        InputError: It is something else, or holds no link of a host.
    """
    return infiniband.read(path, None, partial(parse_links, systems=systems))


def parse_links(path: Path, systems: Path | None = None) -> Fabric:
    """Nodes and cables.

    Speeds are not taken: a link of UFM has its width alone.

    Raises:
        InputError: It is something else, or holds no link.
    """
    system_of = {} if systems is None else _systems(systems)
    nodes: dict[str, Node] = {}
    cables: dict[tuple[str, int, str, int], Cable] = {}
    lost = Passed()
    for at, link in enumerate(read_elements(path)):
        try:
            ends = [_end(link, which, system_of) for which in ("source", "destination")]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            lost.add(f"[{at}]: {error}"[:MOST_SHOWN])
            continue
        for node, _ in ends:
            nodes.setdefault(node.guid, node)
        for (src, src_port), (dst, dst_port) in (ends, ends[::-1]):
            # Nodes are kept once, so their GUIDs are, too.
            key = (nodes[src.guid].guid, src_port, nodes[dst.guid].guid, dst_port)
            cables.setdefault(key, Cable(*key, float("nan")))
        require_fabric(path, len(nodes), len(cables))
    if not cables:
        got = f", got {lost.first}" if lost.count else ""
        raise InputError(
            f"{path}: holds no link; expected what GET /ufmRest/resources/links answers{got}"
        )
    problems = []
    if lost.count:
        problems.append(f"{lost.count} links were passed over, the first is {lost.first}")
    return Fabric(nodes, list(cables.values()), problems)


def _end(link: Mapping[str, Any], which: str, system_of: Mapping[str, System]) -> tuple[Node, int]:
    """Node and number of the port at one end of a link."""
    system_guid = _guid(link[f"{which}_guid"])
    number = int(link[f"{which}_port"])
    guid = _port_guid(link, which, number) or system_guid
    label = str(link.get(f"{which}_port_dname") or "")
    described = str(link.get(f"{which}_port_node_description") or "").strip()
    system = system_of.get(system_guid) or system_of.get(guid)
    of_host, of_switch = _OF_HOST.fullmatch(label), _OF_SWITCH.fullmatch(described)
    if system is not None:
        kind = system.kind
    else:
        is_host = of_host is not None or (bool(described) and of_switch is None)
        kind = "Ca" if is_host else "Switch"
    if kind == "Switch" and of_switch is not None:
        described = of_switch[1]
    elif not described and system is not None:
        described = f"{system.name} {of_host[1]}" if of_host else system.name
    return Node(guid, kind, described, system_guid), number


def _port_guid(link: Mapping[str, Any], which: str, number: int) -> str | None:
    """GUID in the name of a port: that of a link has the names of both its ports.

    A host's several adapters have GUIDs of their own, and UFM gives that of the system as well.
    """
    named = str(link.get(f"{which}_port_name") or "")
    halves = [named] if named else str(link.get("name") or "").split(":")
    found = [match for half in halves if (match := _PORT.fullmatch(half))]
    fitting = {_guid(match[1]) for match in found if int(match[2]) == number}
    own = _guid(link[f"{which}_guid"])
    if own in fitting:
        return own
    other = "destination" if which == "source" else "source"
    # Both ports may have the same number, and one be known to be the other end.
    fitting -= {_guid(link[f"{other}_guid"])} if len(fitting) > 1 else set()
    return fitting.pop() if len(fitting) == 1 else None


def _systems(path: Path) -> dict[str, System]:
    """Systems by their GUIDs, and by those of their ports."""
    found: dict[str, System] = {}
    for at, system in enumerate(read_elements(path)):
        where = f"[{at}]"
        kind = as_text(path, f"{where}.type", system.get("type")).lower()
        name = as_text(path, f"{where}.system_name", system.get("system_name"))
        one = System(name, KINDS.get(kind, "Rt"))
        guids = [system.get("system_guid"), system.get("guid")]
        for port in system.get("ports") or []:
            named = port.get("name") if isinstance(port, dict) else port
            match = _PORT.fullmatch(str(named))
            guids.append(match[1] if match else None)
        for guid in guids:
            if guid is not None and _GUID.fullmatch(str(guid)):
                found[_guid(str(guid))] = one
        require_few(path, len(found) // MOST_GUIDS)
    return found


def _guid(text: object) -> str:
    match = _GUID.fullmatch(str(text).strip())
    if match is None:
        raise ValueError(f"no GUID: {str(text)[:MOST_SHOWN]!r}")
    return f"{int(match[1], 16):x}"
