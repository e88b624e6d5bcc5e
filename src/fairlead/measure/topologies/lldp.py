# SPDX-License-Identifier: Apache-2.0
"""Ethernet by LLDP: what `lldpctl -f json` prints on each host, and on switches that run Linux."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.documents import as_map, read_members, require_few
from fairlead.measure.topologies.interface_port import interface_port, switch_and_interface
from fairlead.measure.topologies.shortest_paths import (
    End,
    between_hosts,
    name_rails,
    name_unreached,
    require_table,
    shortest_paths,
)
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.model.topology import Links, Topology
from fairlead.model.topology.routes import NO_LINK

__all__ = ["read"]

MOST_WIRES = 2
"""Cables of a file for each host that it may name."""

MOST_ADDRESSES = 4
"""Management addresses of a switch that are kept."""

FEWEST_NEIGHBOURS = 3
"""Systems that name one as their neighbour, from which on it is a switch, without `--nodes`."""


class Wire(NamedTuple):
    """A cable between two systems, and the interface at each end."""

    one: str
    one_interface: str
    other: str
    other_interface: str

    def turned(self) -> Wire:
        """The same, seen from the other end."""
        return Wire(self.other, self.other_interface, self.one, self.one_interface)


def read(path: Path, nodes: Path | None = None) -> Topology:
    """An object of systems and what lldpctl printed on each.

    Args:
        path: The file.
        nodes: Names of the hosts, a line each; None: systems in the file that fewer than
            FEWEST_NEIGHBOURS others have as their neighbour.

    Raises:
        InputError: It is something else, or no host has a neighbour.
    """
    systems: dict[str, None] = {}
    # Both ends of a cable may report it.
    wires: dict[Wire, Wire] = {}
    shared: dict[str, str] = {}
    switches_at: dict[str, set[str]] = {}
    for part in read_members(path):
        system = part.key or ""
        systems.setdefault(system)
        for names, addresses in _wires(path, system, part.value):
            wire = Wire(*(shared.setdefault(name, name) for name in names))
            for address in addresses:
                switches_at.setdefault(address, set()).add(wire.other)
            wires.setdefault(min(wire, wire.turned()), wire)
        require_few(path, max(len(systems), len(wires) // MOST_WIRES))
    name = _names_of_file(list(systems))
    cabled = _rename_ends(wires.values(), name)
    hosts, problems = _hosts(path, list(systems), cabled, nodes)
    cables = _cables(hosts, cabled)
    if not cables.ends:
        raise InputError(f"{path}: no host has a switch as its neighbour")
    require_table(str(path), len(cables.switches), len(cables.ends))
    next_link = shortest_paths(len(cables.switches), cables.between, cables.ends)
    known, first, routes = between_hosts(cables.ends, next_link, cables.after)
    for line in name_unreached(cables.ends, next_link):
        problems.append(
            f"{line}; cables between switches are known where lldpctl of one of the two is in the "
            "file"
        )
    problems += [*name_rails(cables.ends), *_name_common_switch(cables)]
    near, far = zip(*cables.ports, strict=True)
    return Topology(
        hosts=known,
        links=Links(in_ports=far, out_ports=near, capacity_Bps=np.full(len(near), np.nan)),
        routes=routes,
        router_of_host=[cables.switches[cables.ends[end].switch] for end in first],
        origin={"how": "lldp", "file": str(path), "routes": "shortest paths"},
        problems=problems,
        source=str(path),
        port_aliases=_by_address(cables, switches_at, name),
    )


def _name_common_switch(cables: Cables) -> Iterator[str]:
    """A line where a switch joins all hosts, and some have others: a management network?"""
    switches_of: dict[str, set[int]] = {}
    for end in cables.ends:
        switches_of.setdefault(end.host, set()).add(end.switch)
    common = set.intersection(*switches_of.values())
    others = set.union(*switches_of.values()) - common
    if common and len(others) > 1:
        yield (
            f"{cables.switches[min(common)]} joins all hosts, so all are equally near: leave its "
            "interfaces out of the file if it is a network for management"
        )


def _by_address(
    cables: Cables, switches_at: Mapping[str, set[str]], name: Callable[[str], str]
) -> dict[str, str]:
    """Interfaces of switches by their management addresses, by which SNMP may ask them."""
    addresses: dict[str, list[str]] = {}
    for address, systems in switches_at.items():
        switches = {name(system) for system in systems}
        if len(switches) == 1:
            addresses.setdefault(switches.pop(), []).append(address)
    aliases = {}
    for port, _ in cables.ports:
        if at := switch_and_interface(port):
            for address in addresses.get(at[0], ()):
                aliases[interface_port(address, at[1])] = port
    return aliases


def _names_of_file(systems: list[str]) -> Callable[[str], str]:
    """What a system is called in the file, by what it reports, which may have a domain."""
    of_short: dict[str, list[str]] = {}
    for system in systems:
        of_short.setdefault(_short(system), []).append(system)
    known = set(systems)

    def name(given: str) -> str:
        same = of_short.get(_short(given), [])
        is_one = given not in known and len(same) == 1 and "." in given + same[0]
        has_domains = is_one and "." in given and "." in same[0]
        return same[0] if is_one and not has_domains else given

    return name


def _rename_ends(wires: Iterable[Wire], name: Callable[[str], str]) -> list[Wire]:
    """Each cable once, with the names by which its ends are known."""
    found: dict[Wire, Wire] = {}
    for wire in wires:
        named = wire._replace(one=name(wire.one), other=name(wire.other))
        found.setdefault(min(named, named.turned()), named)
    return list(found.values())


def _short(name: str) -> str:
    """A name without its domain, an address whole."""
    is_address = name.replace(".", "").isdecimal() or ":" in name
    return name if is_address else name.partition(".")[0].lower()


class Cables(NamedTuple):
    """Cables as links.

    Attributes:
        switches: Their names.
        ends: Where hosts are, those of one host one after another.
        between: Rows of switch, switch and link.
        ports: Port that sends by each link, and the one that receives.
        after: Switch that each link leads to; NO_LINK for a host.
    """

    switches: list[str]
    ends: list[End]
    between: list[tuple[int, int, int]]
    ports: list[tuple[str, str]]
    after: list[int]


def _cables(hosts: list[str], wires: list[Wire]) -> Cables:
    """Two links for each cable of a switch; cables between two hosts are left out."""
    order = {host: index for index, host in enumerate(hosts)}
    names = dict.fromkeys(name for wire in wires for name in (wire.one, wire.other))
    switches = [name for name in names if name not in order]
    position = {name: index for index, name in enumerate(switches)}
    cables = Cables(switches, [], [], [], [])
    seen: set[str] = set()
    to_host = [
        each
        for wire in wires
        for each in (wire, wire.turned())
        if each.one in order and each.other in position
    ]
    for wire in sorted(to_host, key=lambda wire: (order[wire.one], wire.one_interface)):
        own = host_port(wire.one)
        own = f"{own} on {wire.one_interface}" if wire.one in seen else own
        seen.add(wire.one)
        far = interface_port(wire.other, wire.other_interface)
        at = len(cables.ports)
        cables.ends.append(End(wire.one, position[wire.other], at, at + 1))
        cables.ports.extend([(own, far), (far, own)])
        cables.after.extend([position[wire.other], NO_LINK])
    for wire in wires:
        if wire.one not in position or wire.other not in position:
            continue
        near = interface_port(wire.one, wire.one_interface)
        far = interface_port(wire.other, wire.other_interface)
        one, other, at = position[wire.one], position[wire.other], len(cables.ports)
        cables.between.extend([(one, other, at), (other, one, at + 1)])
        cables.ports.extend([(near, far), (far, near)])
        cables.after.extend([other, one])
    return cables


def _hosts(
    path: Path, systems: list[str], wires: list[Wire], nodes: Path | None
) -> tuple[list[str], list[str]]:
    """Names of the hosts, and lines about what was passed over."""
    neighbours: dict[str, set[str]] = {}
    for wire in wires:
        for seen in (wire, wire.turned()):
            neighbours.setdefault(seen.one, set()).add(seen.other)
    if nodes is not None:
        lines = (line.partition("#")[0].strip() for line in read_lines(nodes))
        hosts = [line for line in lines if line]
        unknown = [host for host in hosts if host not in neighbours]
        if unknown:
            raise InputError(f"{nodes}: host {unknown[0]!r} is not in {path}, or has no neighbour")
        return hosts, []
    hosts = [name for name in systems if len(neighbours.get(name, ())) < FEWEST_NEIGHBOURS]
    alone = [host for host in hosts if host not in neighbours]
    more = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
    problems = [f"{alone[0]}{more}: has no neighbour, and was left out"] if alone else []
    return [host for host in hosts if host in neighbours], problems


def _wires(path: Path, system: str, content: object) -> Iterator[tuple[Wire, list[str]]]:
    """Cables of a system, as lldpctl prints them in either of its forms for one interface.

    Each has the management addresses of the other end, in their shortest form.
    """
    lldp = as_map(path, f"{system}.lldp", as_map(path, system, content).get("lldp"))
    interfaces = lldp.get("interface") or []
    entries = interfaces if isinstance(interfaces, list) else [interfaces]
    for index, entry in enumerate(entries):
        for name, neighbour in as_map(path, f"{system}.interface[{index}]", entry).items():
            where = f"{system}.interface.{name}"
            facts = as_map(path, where, neighbour)
            chassis = as_map(path, f"{where}.chassis", facts.get("chassis"))
            # Without a system name the chassis is given directly, and only its address is known.
            other = next(iter(chassis)) if "id" not in chassis else _value(chassis["id"])
            port = as_map(path, f"{where}.port", facts.get("port"))
            known = chassis if "id" in chassis else chassis[other]
            yield Wire(system, name, other, _interface(port)), _addresses(known)


def _addresses(chassis: object) -> list[str]:
    """Management addresses: one, or a list of them; none that every switch has."""
    given = chassis.get("mgmt-ip") if isinstance(chassis, dict) else None
    found = []
    for text in (given if isinstance(given, list) else [given])[:MOST_ADDRESSES]:
        try:
            address = ipaddress.ip_address(str(text))
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local):
            found.append(str(address))
    return found


def _interface(port: Mapping[str, Any]) -> str:
    """Name of the far interface: its name where it is one, else its description."""
    given = port.get("id")
    if isinstance(given, dict) and given.get("type") == "ifname":
        return _value(given)
    return str(port.get("descr") or _value(given))


def _value(given: object) -> str:
    return str(given.get("value", "?")) if isinstance(given, dict) else str(given)
