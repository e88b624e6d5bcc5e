# SPDX-License-Identifier: Apache-2.0
"""What is left to run on when not everything could be reached."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.measure.reachable import drop_unreachable

CLUSTER = fl.Cluster(("a", "b", "c"), (1, 2, 3))


def network(*unmeasured: tuple[int, int], unreachable: tuple[str, ...] = ()) -> fl.Network:
    latency_s = np.full((3, 3), 1e-5)
    for src, dst in unmeasured:
        latency_s[src, dst] = np.nan
    reasons = dict.fromkeys(unreachable, "timed out")
    return fl.Network(["a", "b", "c"], latency_s, np.full((3, 3), 1e8), unreachable=reasons)


def test_unreachable_host_is_left_out_with_its_slots() -> None:
    without_b = network((1, 0), (1, 2), (0, 1), (2, 1), unreachable=("b",))
    part, measured = drop_unreachable(CLUSTER, without_b)
    assert (part.hosts, part.slots) == (("a", "c"), (1, 3))
    assert measured.hosts == part.hosts


def test_last_reachable_host_is_enough() -> None:
    pairs = [(src, dst) for src in range(3) for dst in range(3) if src != dst]
    alone, _ = drop_unreachable(CLUSTER, network(*pairs, unreachable=("a", "c")))
    assert (alone.hosts, alone.slots) == (("b",), (2,))


def test_fully_measured_cluster_stays_whole() -> None:
    assert drop_unreachable(CLUSTER, network())[0] == CLUSTER


def test_unmeasured_pair_is_named() -> None:
    with pytest.raises(fl.TopologyError, match="a -> c was not measured:"):
        drop_unreachable(CLUSTER, network((0, 2)))


def test_no_reachable_host_is_an_error() -> None:
    with pytest.raises(fl.TopologyError, match="none of these hosts"):
        drop_unreachable(CLUSTER, network(unreachable=("a", "b", "c")))
