# SPDX-License-Identifier: Apache-2.0
"""bench/collectives/mpich2.cpp sends what MPICH2 1.4 does: times as by Thakur and others (2005).

On eight hosts whose pairs are all alike a message of m bytes takes L + m / B, so the costs of
their section 4 are exact but for what a host's ranks do.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "bench" / "collectives"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("smpicxx") is None, reason="SMPI is not installed"),
]

L, B = 50e-6, 125e6  # `homogeneous` in bench/collectives/clouds.py


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    import clouds
    import simulating

    yield clouds, simulating
    for name in set(sys.modules) - before:
        if str(FOLDER.parent) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def time_s(bench: Any, folder: Path, num_hosts: int, operation: str, size_bytes: int) -> float:
    clouds, simulating = bench
    platform = clouds.platform_of(clouds.homogeneous(num_hosts), folder)
    simulation = simulating.Simulation(simulating.built("timed"), platform, "plain")
    call = simulating.Call(operation, size_bytes, root=3)
    return float(simulation.times_s("mpich2", [call])[call])


def test_bcast_among_seven_is_a_binomial_tree_at_any_size(bench: Any, tmp_path: Path) -> None:
    m = 2**20

    found = time_s(bench, tmp_path, 7, "bcast", m)

    assert found == pytest.approx(3 * (L + m / B), rel=0.01)


def test_long_bcast_among_eight_is_a_scatter_and_a_ring(bench: Any, tmp_path: Path) -> None:
    m = 2**20

    found = time_s(bench, tmp_path, 8, "bcast", m)

    assert found == pytest.approx((3 + 7) * L + 2 * 7 / 8 * m / B, rel=0.01)


def test_medium_bcast_among_eight_is_a_scatter_and_doubling(bench: Any, tmp_path: Path) -> None:
    m = 400_000

    found = time_s(bench, tmp_path, 8, "bcast", m)

    assert found == pytest.approx((3 + 3) * L + 2 * 7 / 8 * m / B, rel=0.05)


def test_long_reduce_among_eight_halves_and_gathers(bench: Any, tmp_path: Path) -> None:
    m = 2**22

    found = time_s(bench, tmp_path, 8, "reduce", m)

    assert found == pytest.approx(2 * (3 * L + 7 / 8 * m / B), rel=0.01)


@pytest.mark.parametrize("operation", ["scatter", "gather"])
def test_blocks_go_along_a_binomial_tree(bench: Any, tmp_path: Path, operation: str) -> None:
    m = 2**20

    found = time_s(bench, tmp_path, 8, operation, m)

    assert found == pytest.approx(3 * L + 7 * m / B, rel=0.01)
