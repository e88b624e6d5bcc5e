# SPDX-License-Identifier: Apache-2.0
"""The inside of a host: its topology by hwloc, and how fast its CPUs exchange data."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.archive import Archive
from fairlead.model.cpu_lists import cpus_of_list
from fairlead.model.cpu_topology import CpuTopology, read_cpu_topology

__all__ = ["INSIDE_ARRAYS", "HostInside", "LevelRate", "inside_arrays", "insides_of_archive"]

_XML, _LENGTHS = "inside_xml", "inside_xml_bytes"
INSIDE_ARRAYS = (_XML, _LENGTHS)
"""Arrays of a file that has the inside of hosts."""


class LevelRate(NamedTuple):
    """How fast two CPUs exchange data that have a level in common and no lower one."""

    latency_s: float
    bandwidth_Bps: float


@dataclasses.dataclass(frozen=True)
class HostInside:
    """The inside of one host.

    Attributes:
        xml: The topology as hwloc exports it; empty where it is not known.
        cpus: CPUs that the job may use, in the form of cpuset(7).
        rates: What was measured, by the name of the level; without those that were not.
        memory_Bps: Bytes per second that the CPUs of each socket read from memory together; `nan`
            where it was not measured. Empty where nothing was.
        problem: Why the topology, or else its rates, are not known; empty where they are.
    """

    xml: str = ""
    cpus: str = ""
    rates: Mapping[str, LevelRate] = dataclasses.field(default_factory=dict)
    memory_Bps: tuple[float, ...] = ()
    problem: str = ""

    def __post_init__(self) -> None:
        for name, rate in self.rates.items():
            if not all(math.isfinite(value) and value > 0 for value in rate):
                raise InputError(f"inside: rates.{name}: expected two numbers > 0, got {[*rate]}")
        if any(value <= 0 for value in self.memory_Bps):
            raise InputError(f"inside: memory_Bps: must be > 0, got {[*self.memory_Bps]}")
        cpus_of_list(self.cpus)

    @functools.cached_property
    def topology(self) -> CpuTopology:
        """The topology.

        Raises:
            InputError: It is not known, or the XML is broken.
        """
        if not self.xml:
            raise InputError(self.problem or "its topology is not known")
        return read_cpu_topology(self.xml)

    def facts(self) -> dict[str, Any]:
        """All but the XML, JSON-serialisable."""
        return {
            "cpus": self.cpus,
            "rates": {name: [*rate] for name, rate in self.rates.items()},
            "memory_Bps": [None if math.isnan(value) else value for value in self.memory_Bps],
            "problem": self.problem,
        }


def inside_arrays(insides: Mapping[str, HostInside]) -> dict[str, npt.NDArray[Any]]:
    """The topologies of all hosts as arrays of a file, in their order; none for no host."""
    if not insides:
        return {}
    texts = [inside.xml.encode() for inside in insides.values()]
    return {
        _XML: np.frombuffer(b"".join(texts), dtype=np.uint8),
        _LENGTHS: np.array([len(text) for text in texts], dtype=np.int64),
    }


def insides_of_archive(archive: Archive) -> dict[str, HostInside]:
    """The inside of each host of a file; none where it has no such field.

    A topology is read where it is used, so that a broken one does not spoil the network.

    Raises:
        InputError: The field has another form; the message names it.
    """
    if _XML not in archive:
        return {}
    facts = archive.meta_field("insides", dict)
    lengths = archive.array(_LENGTHS, (len(facts),), is_whole=True)
    whole = archive.array(_XML, (-1,), is_whole=True).astype(np.uint8).tobytes()
    ends = np.cumsum(lengths)
    if lengths.min(initial=0) < 0 or (len(ends) and ends[-1] != len(whole)):
        raise archive.error(_LENGTHS, f"does not add up to the length of {_XML}")
    insides = {}
    for (host, found), length, end in zip(facts.items(), lengths, ends, strict=True):
        xml = whole[end - length : end].decode("utf-8", errors="replace")
        try:
            insides[host] = HostInside(
                xml,
                str(found["cpus"]),
                {name: LevelRate(*map(float, rate)) for name, rate in found["rates"].items()},
                tuple(math.nan if one is None else float(one) for one in found["memory_Bps"]),
                str(found["problem"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
            raise archive.error(f"meta.insides.{host}", f"is not understood: {error}") from error
    return insides
