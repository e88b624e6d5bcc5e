# SPDX-License-Identifier: Apache-2.0
"""The recordings, clouds and mechanisms of bench/cloudmap/figures.py are what the paper has."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "bench" / "cloudmap"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of the bench, and forgets all of them afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]


def test_recorded_cg_sends_what_its_algorithm_sends(load: Any) -> None:
    # 64 ranks in 8 rows of 8. In each of 75 iterations the matrix is applied 26 times, with three
    # exchanges along the row and one with the transposed rank, of 75000 / 8 numbers each.
    sent = load("traces").traffic("cg.B.64")

    vectors = 64 * 75 * 26 * (3 + 1) * (75_000 // 8) * 8

    assert vectors < sent.bytes.sum() < 1.002 * vectors  # sums of scalars come on top


def test_recorded_bt_talks_to_six_neighbours_of_a_torus(load: Any) -> None:
    sent = load("traces").traffic("bt.B.64").messages.toarray()

    assert np.array_equal(sent > 0, sent.T > 0)
    assert set((sent > 0).sum(axis=1)) == {6}


def test_ft_has_no_messages_but_those_of_its_alltoall(load: Any) -> None:
    # Class B is 512 x 256 x 256 complex numbers, transposed 21 times.
    sent = load("traces").traffic("ft.B.64")

    assert sent.bytes.sum() == 0
    assert sent.exchange_bytes.sum() == 21 * 512 * 256 * 256 * 16 * 63 / 64


def test_a_replay_computes_as_long_as_the_benchmark_counts(load: Any, tmp_path: Path) -> None:
    traces = load("traces")

    files = traces.write_replay("sp.B.64", tmp_path).read_text().split()

    lines = Path(files[5]).read_text().splitlines()
    flops = sum(float(line.split()[2]) for line in lines if line.split()[1] == "compute")
    # 354,977 Mop of 400 steps on 64 ranks of 400 Mop/s each; a second has 1e9 operations there.
    assert flops == pytest.approx(354_977 / 400 / 64 / 400 * 1e9, rel=1e-6)
    assert len(files) == 64


def test_the_largest_alltoall_comes_first(load: Any) -> None:
    init, small, large = ("3", "init"), ("3", "alltoall", "1", "1"), ("3", "alltoall", "9", "9")
    other = ("3", "allreduce", "7", "0", "1")

    ordered = load("traces").largest_first([init, other, small, large])

    assert ordered == [init, large, other, small]


def test_pairs_of_a_cloud_are_symmetric_and_quadruple_their_latency(load: Any) -> None:
    clouds = load("clouds")
    cloud = clouds.Cloud(clouds.A7, 8)

    day = np.array([cloud.at(hour).latency_s for hour in np.arange(0, 48, 0.25)])

    assert np.array_equal(day, np.swapaxes(day, 1, 2))
    pairs = np.triu_indices(8, 1)
    ratio = day.max(axis=0)[pairs] / day.min(axis=0)[pairs]
    assert np.all(ratio <= 4)
    assert np.median(ratio) > 3  # "most instance pairs quadruple", section II-A
    changes = np.count_nonzero(np.diff(day, axis=0), axis=0)[pairs]
    assert 48 / changes.max() > 1  # a speed holds for hours


@pytest.mark.parametrize(
    ("name", "num_hosts", "bit_per_s"), [("A7", 32, 2e9), ("A8", 32, 10e9), ("G5", 8, 8e9)]
)
def test_clouds_have_the_interfaces_and_cores_of_table_1(
    load: Any, name: str, num_hosts: int, bit_per_s: float
) -> None:
    clouds = load("clouds")
    cloud = clouds.Cloud(getattr(clouds, name), num_hosts)

    network = cloud.at(5)

    assert cloud.cluster.num_slots == 256
    assert set(8 * network.nic_out_Bps) == set(8 * network.nic_in_Bps) == {bit_per_s}


def test_the_default_interleaves_and_round_robin_fills(load: Any) -> None:
    mechanisms, clouds = load("mechanisms"), load("clouds")
    network = clouds.Cloud(clouds.A7, 8).at(0)

    default, filled = (
        mechanisms.place(name, "cg.B.64", network, 8, run=0).host_of_rank
        for name in ("default", "RoundRobin")
    )

    assert default.tolist() == [rank % 8 for rank in range(64)]
    assert filled.tolist() == [rank // 8 for rank in range(64)]


def test_speeds_are_relative_to_the_run_of_the_same_round(load: Any) -> None:
    gains = load("gains")
    cell = gains.Cell("cg", "B", {"default": [8.0, 6.0], "RoundRobin": [4.0, 2.0], "x": [2.0, 2.0]})

    assert cell.speeds("x") == [4.0, 3.0]
    assert cell.speeds("x", "RoundRobin") == [2.0, 1.0]


def test_a_profile_costs_by_the_instances_and_a_mapping_by_the_tasks(load: Any) -> None:
    mechanisms = load("mechanisms")

    costs_s = [
        mechanisms.overhead_s(name, num_hosts, num_tasks)
        for name in ("CloudMap_bw", "intra only", "RoundRobin")
        for num_hosts, num_tasks in ((8, 64), (32, 256), (8, 256))
    ]

    # Table II; 256 tasks on 8 instances, of size G5, are not in it (section VI-F).
    assert costs_s == pytest.approx([0.695, 1.698, 0.718, 0.005, 0.028, 0.028, 0, 0, 0])


def test_what_a_replay_gave_counts_for_the_same_replay_only(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clouds, replay, mechanisms = load("clouds"), load("replay"), load("mechanisms")
    monkeypatch.setattr(replay, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(replay.shutil, "which", lambda name: name)
    network = clouds.Cloud(clouds.A7, 8).at(0)
    seconds = iter([1.0, 2.0, 3.0, 4.0])
    monkeypatch.setattr(replay.Replayer, "_replay_s", lambda *_: next(seconds))
    replayer = replay.Replayer(tmp_path)

    def run_s(name: str, mechanism: str, hour: float = 0) -> float:
        placement = mechanisms.place(mechanism, name, network, 8, run=0)
        repeats = load("traces").load(name).facts.repeats
        changed = clouds.Cloud(clouds.A7, 8).at(hour)
        return float(replayer.run_s(name, changed, placement, clouds.A7)) / repeats

    first = run_s("cg.B.64", "default")

    assert run_s("cg.B.64", "RoundRobin") > first
    assert run_s("cg.C.64", "default") > first
    assert run_s("cg.B.64", "default", hour=12) > first
    assert run_s("cg.B.64", "default") == first


def test_a_slow_program_has_one_round(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gains = load("gains")
    setting = gains.SETTINGS["figure-8"]
    monkeypatch.setattr(gains, "Replayer", lambda folder: folder)
    rounds: list[tuple[str, int]] = []
    monkeypatch.setattr(
        gains, "add_round", lambda cell, *rest: rounds.append((cell.program, rest[2]))
    )

    gains.measure(setting, 3, ("cg", "lu"), once=("lu",))

    assert rounds == [("cg", 0), ("cg", 1), ("cg", 2), ("lu", 0)]
