# SPDX-License-Identifier: Apache-2.0
"""The cloud of CMPI's items has what the text gives of one; random trees take what hands count."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlead as fl

FOLDER = Path(__file__).parents[3] / "bench" / "collectives"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    import random_trees
    import rented

    yield rented, random_trees
    for name in set(sys.modules) - before:
        if str(FOLDER.parent) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def test_levels_are_multiples_of_k_times_the_least(bench: Any) -> None:
    rented, _ = bench
    slowness = np.array([[0.0, 1.0, 3.99], [4.0, 0.0, 7.99], [8.0, 41.0, 0.0]])

    # k = 4 and the least is 1, so level 1 begins at 4 and level 2 at 8; the paper, section 3.
    assert rented.levels_of(slowness).tolist() == [[0, 0, 0], [1, 0, 1], [2, 10, 0]]
    # Levels of the three pairs: 0-1 is at 0 and 1, 0-2 at 0 and 2, 1-2 at 1 and 10.
    assert rented.asymmetry_ratio(slowness) == 1.0
    slowness[1, 0] = 3.0
    assert rented.asymmetry_ratio(slowness) == pytest.approx(2 / 3)


def test_as_many_pairs_are_asymmetric_as_in_the_paper(bench: Any) -> None:
    rented, _ = bench
    draws = [rented.slowness_of(rented.rented(128, seed)) for seed in range(100, 108)]

    by_latency = np.mean([rented.asymmetry_ratio(draw["latency"]) for draw in draws])
    by_bandwidth = np.mean([rented.asymmetry_ratio(draw["bandwidth"]) for draw in draws])

    assert by_latency == pytest.approx(0.582, abs=0.03)
    assert by_bandwidth == pytest.approx(0.182, abs=0.02)


def three_hosts() -> fl.Network:
    """Seconds of a message of 1000 bytes: 0 to 1 two, 0 to 2 three, 1 to 2 four, 2 to 1 five."""
    latency_s = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [1.0, 4.0, 0.0]])
    bandwidth_Bps = np.full((3, 3), 1000.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    nic_Bps = np.full(3, 1000.0)
    return fl.Network(
        hosts=["a", "b", "c"],
        latency_s=latency_s,
        bandwidth_Bps=bandwidth_Bps,
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps.copy(),
    )


@pytest.mark.skipif(shutil.which("cmake") is None, reason="CMake is not installed")
def test_random_trees_of_three_hosts_take_what_hand_counts_say(bench: Any) -> None:
    _, random_trees = bench
    network = three_hosts()

    bcasts = random_trees.trees(random_trees.Case("bcast", network, [1, 1, 1], 1000, 0), 200)
    scatters = random_trees.trees(random_trees.Case("scatter", network, [1, 1, 2], 1000, 0), 200)

    # Both from 0, the lower number first, 2 + 3; over 1, 2 + 4; over 2, 3 + 5.
    assert {tuple(tree): time_s for time_s, tree in bcasts} == {
        (-1, 0, 0): pytest.approx(5.0),
        (-1, 0, 1): pytest.approx(6.0),
        (-1, 2, 0): pytest.approx(8.0),
    }
    # Both at once: the block for 1 is alone on the NIC in second 1 to 2, the two for 2 from 2 on.
    # Over 1: three blocks, 1 + 3, then two, 3 + 2. Over 2: three blocks, 2 + 3, then one, 4 + 1.
    assert {tuple(tree): time_s for time_s, tree in scatters} == {
        (-1, 0, 0): pytest.approx(4.0),
        (-1, 0, 1): pytest.approx(9.0),
        (-1, 2, 0): pytest.approx(10.0),
    }
