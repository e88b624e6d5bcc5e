# SPDX-License-Identifier: Apache-2.0
"""Machines that hwloc invents from a description, as `lstopo -i DESCRIPTION` does."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import scipy.sparse as sp

import fairlead as fl
from fairlead.model.cpu_lists import cpus_of_list, list_of_cpus
from fairlead.model.cpu_topology import CpuTopology
from fairlead.model.host_inside import HostInside, LevelRate

TWO_SOCKETS = "package:2 l3:2 core:16 pu:1"
"""2 x 32 cores with 4 L3."""
ONE_SOCKET = "package:1 l3:1 core:8 pu:1"
TWO_SMALL_SOCKETS = "package:2 core:4 pu:1"

RATES = {
    "L3": LevelRate(1e-7, 2e10),
    "socket": LevelRate(2e-7, 1e10),
    "host": LevelRate(4e-7, 5e9),
}


@functools.cache
def synthetic_xml(description: str) -> str:
    """The topology of such a machine, as hwloc's library exports it."""
    hwloc = ctypes.CDLL("libhwloc.so.15")
    topology, text, length = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_int()
    assert hwloc.hwloc_topology_init(ctypes.byref(topology)) == 0
    assert hwloc.hwloc_topology_set_synthetic(topology, description.encode()) == 0
    assert hwloc.hwloc_topology_load(topology) == 0
    assert (
        hwloc.hwloc_topology_export_xmlbuffer(
            topology, ctypes.byref(text), ctypes.byref(length), ctypes.c_ulong(0)
        )
        == 0
    )
    assert text.value is not None
    found = text.value.decode()
    hwloc.hwloc_free_xmlbuffer(topology, text)
    hwloc.hwloc_topology_destroy(topology)
    return found


def synthetic_inside(description: str, *, is_measured: bool = True) -> HostInside:
    """The inside of such a host, whose CPUs may all be used."""
    bare = HostInside(synthetic_xml(description))
    rates = {name: RATES[name] for name in bare.topology.level_names} if is_measured else {}
    memory_Bps = (1e11,) * len(bare.topology.sockets())
    return HostInside(bare.xml, list_of_cpus(bare.topology.cpus), rates, memory_Bps)


def grid_traffic(*shape: int, sent_bytes: float = 1e6) -> fl.Traffic:
    """Ranks of a grid, the last dimension fastest, that send as much to each neighbour."""
    rank = np.arange(np.prod(shape)).reshape(shape)
    pairs = [
        np.stack([np.delete(rank, -1, axis).ravel(), np.delete(rank, 0, axis).ravel()])
        for axis in range(len(shape))
    ]
    src, dst = np.concatenate([*pairs, *(pair[::-1] for pair in pairs)], axis=1)
    sent = sp.csr_array((np.full(len(src), sent_bytes), (src, dst)), shape=(rank.size,) * 2)
    return fl.Traffic(bytes=sent, messages=sent / sent_bytes)


def num_crossing(lists: tuple[str, ...], traffic: fl.Traffic, topology: CpuTopology) -> list[int]:
    """Pairs of ranks that exchange messages and have no group of a level in common, by level."""
    pairs = sp.triu(traffic.bytes).tocoo()
    common = [
        topology.common_level(cpus_of_list(lists[src]) | cpus_of_list(lists[dst]))
        for src, dst in zip(pairs.row, pairs.col, strict=True)
    ]
    return [sum(at > level for at in common) for level in range(len(topology.levels))]
