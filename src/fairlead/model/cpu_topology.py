# SPDX-License-Identifier: Apache-2.0
"""The CPUs of a host in nested groups, read from the XML that hwloc exports.

Source: hwloc 2, file hwloc2.dtd and section "Importing and exporting topologies from/to XML files".
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from fairlead.errors import InputError

__all__ = ["TOP_LEVEL", "CpuLevel", "CpuTopology", "read_cpu_topology"]

Cpus = frozenset[int]

_TYPES = {"L3Cache": "L3", "NUMANode": "NUMA", "Package": "socket"}
"""Types of hwloc whose CPUs form a group, with the name of the level here."""

TOP_LEVEL = "host"
"""Name of the level of CPUs that have only their host in common."""

_WORD = re.compile(r"0x[0-9a-f]{1,8}", re.ASCII)
_MOST_BYTES = 1 << 24
_MOST_CPUS = 1 << 16


@dataclasses.dataclass(frozen=True)
class CpuLevel:
    """One level: CPUs in groups.

    Attributes:
        name: "L3", "NUMA" or "socket".
        groups: CPUs of each group, none in two.
    """

    name: str
    groups: tuple[Cpus, ...]

    def group_of(self, cpus: Cpus) -> int | None:
        """Position of the group that holds all of these CPUs; None where there is none."""
        return next((at for at, group in enumerate(self.groups) if cpus <= group), None)


@dataclasses.dataclass(frozen=True)
class CpuTopology:
    """The CPUs of one host.

    Attributes:
        cores: CPUs of each core, in the order of hwloc: neighbours are near each other.
        levels: Levels on which CPUs differ, lowest first; a group lies in one of the next level.
            None where all CPUs are equally near.
        l3_bytes: Size of the largest L3 cache; 0 where it is not known.
        host_name: The host's own name, where the file has one.
    """

    cores: tuple[Cpus, ...]
    levels: tuple[CpuLevel, ...]
    l3_bytes: int = 0
    host_name: str | None = None

    @property
    def cpus(self) -> Cpus:
        """All CPUs."""
        return frozenset(itertools.chain.from_iterable(self.cores))

    @property
    def level_names(self) -> tuple[str, ...]:
        """Names of all levels, lowest first, the whole host last."""
        return (*(level.name for level in self.levels), TOP_LEVEL)

    def common_level(self, cpus: Cpus) -> int:
        """Position in `level_names` of the lowest level with all of these CPUs in one group."""
        for at, level in enumerate(self.levels):
            if level.group_of(cpus) is not None:
                return at
        return len(self.levels)

    def sockets(self) -> tuple[Cpus, ...]:
        """CPUs of each socket; one group of all where sockets do not differ."""
        found = [level.groups for level in self.levels if level.name == "socket"]
        return found[0] if found else (self.cpus,)


def read_cpu_topology(xml: str) -> CpuTopology:
    """Read a topology of hwloc 2.

    Raises:
        InputError: It is no such XML; the message has the problem.
    """
    if len(xml) > _MOST_BYTES:
        raise InputError(f"topology of hwloc: larger than {_MOST_BYTES >> 20} MiB")
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise InputError(f"topology of hwloc: broken XML: {error}") from error
    version = root.get("version", "")
    if root.tag != "topology" or version.partition(".")[0] not in ("2", "3"):
        raise InputError("topology of hwloc: expected XML of hwloc 2")
    machine = root.find("object")
    if machine is None or machine.get("type") != "Machine":
        raise InputError("topology of hwloc: expected an object of type Machine")
    allowed = _cpus(machine, "allowed_cpuset") or _cpus(machine, "cpuset")
    cpus_of_type: dict[str, list[Cpus]] = {}
    l3_bytes = 0
    for item in machine.iter("object"):
        cpus = _cpus(item, "cpuset") & allowed
        if cpus:
            cpus_of_type.setdefault(item.get("type", ""), []).append(cpus)
        if item.get("type") == "L3Cache":
            l3_bytes = max(l3_bytes, _whole_number(item, "cache_size"))
    cores = cpus_of_type.get("Core") or cpus_of_type.get("PU")
    if not cores:
        raise InputError("topology of hwloc: no core has a CPU that may be used")
    names = {info.get("name"): info.get("value") for info in machine.findall("info")}
    return CpuTopology(
        cores=tuple(cores),
        levels=_levels(cpus_of_type, frozenset(itertools.chain.from_iterable(cores))),
        l3_bytes=l3_bytes,
        host_name=names.get("HostName"),
    )


def _levels(cpus_of_type: Mapping[str, list[Cpus]], everything: Cpus) -> tuple[CpuLevel, ...]:
    """The levels on which CPUs differ, from those with the most groups to those with the fewest."""
    found = [
        CpuLevel(name, _sort_by_first(cpus_of_type[kind]))
        for kind, name in _TYPES.items()
        if _is_partition(cpus_of_type.get(kind, []), everything)
    ]
    levels: list[CpuLevel] = []
    # Where levels have the same groups the socket is kept, whose name is the best known.
    for level in sorted(reversed(found), key=lambda level: len(level.groups)):
        is_nested = not levels or all(
            levels[0].group_of(group) is not None for group in level.groups
        )
        least = len(levels[0].groups) if levels else 1
        if is_nested and least < len(level.groups):
            levels.insert(0, level)
    return tuple(levels)


def _is_partition(groups: Iterable[Cpus], everything: Cpus) -> bool:
    members = [*itertools.chain.from_iterable(groups)]
    return len(members) == len(everything) and set(members) == everything


def _sort_by_first(groups: Iterable[Cpus]) -> tuple[Cpus, ...]:
    return tuple(sorted(groups, key=min))


def _cpus(item: ElementTree.Element, name: str) -> Cpus:
    """The CPUs of a mask: words of 32 bits in hexadecimal digits, the highest first."""
    text = item.get(name, "")
    if not text:
        return frozenset()
    words = text.split(",")
    if 32 * len(words) > _MOST_CPUS or not all(not word or _WORD.fullmatch(word) for word in words):
        raise InputError(f"topology of hwloc: {name}: {text[:60]!r} is no set of CPUs")
    mask = 0
    for word in words:
        mask = mask << 32 | int(word or "0", 16)
    return frozenset(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def _whole_number(item: ElementTree.Element, name: str) -> int:
    text = item.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
