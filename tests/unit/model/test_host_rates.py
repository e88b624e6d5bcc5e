# SPDX-License-Identifier: Apache-2.0
"""Rates of hosts: which are stragglers, and what is kept in files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.errors import InputError
from fairlead.files.archive import save_archive
from fairlead.model.host_rates import HostRates, host_speeds, stragglers


def rates_of(values: list[float], error: float = 0.01) -> HostRates:
    """Hosts with these rates of every kind, each within +- 1.96 of this relative error."""
    ends = np.exp(1.96 * error * np.array([0.0, -1.0, 1.0]))
    all_values = np.array(values)[:, None, None] * np.ones((1, 4, 1)) * ends
    return HostRates(all_values, np.full(len(values), 2))


def test_a_straggler_is_named_with_what_it_lacks() -> None:
    rates = rates_of([1.0, 1.02, 0.98, 1.01, 0.5])
    rates.values[4, 3] *= 0.8  # memory of all cores is its worst

    (found,) = stragglers(rates)

    assert (found.host, found.rate) == (4, "all_cores_memory_Bps")
    assert found.ratio == pytest.approx(0.4 / 1.005, rel=1e-4)


@pytest.mark.parametrize(
    "rates",
    [
        rates_of([1.0, 1.0, 1.0, 0.96]),  # less than 5 % slower
        rates_of([1.0, 1.3, 0.7, 1.1, 0.6]),  # the others differ as much
        rates_of([1.0, 1.0, 1.0, 0.7], error=0.1),  # its repeats differ as much
        rates_of([0.5]),  # there are no others
    ],
)
def test_no_straggler_is_named_within_the_spread(rates: HostRates) -> None:
    assert stragglers(rates) == []


def test_two_hosts_are_compared_by_their_repeats() -> None:
    assert [one.host for one in stragglers(rates_of([1.0, 0.8]))] == [1]
    assert stragglers(rates_of([1.0, 0.8], error=0.05)) == []


def test_of_equal_hosts_none_is_named_by_chance() -> None:
    rng = np.random.default_rng(0)
    spread = 0.03
    named = 0
    for _ in range(400):
        values = np.exp(spread * rng.standard_normal((8, 4, 1)))
        ends = np.exp(1.96 * spread * np.array([0.0, -1.0, 1.0]))
        named += bool(stragglers(HostRates(values * ends, np.full(8, 2))))
    # 8 hosts, 4 rates, 400 times: a score of 3.5 with the sigma of a few others.
    assert named <= 20


def test_equal_hosts_have_no_speeds_by_chance() -> None:
    rng = np.random.default_rng(0)
    num_differing = 0
    for _ in range(200):
        # As the probe has it: six passes, and Student's interval; hosts are disturbed unequally.
        disturbed = rng.uniform(0.02, 0.3, (8, 1, 1)) * rng.standard_normal((8, 4, 6))
        half = 2.571 * disturbed.std(axis=-1, ddof=1) / np.sqrt(6)
        middle = disturbed.mean(axis=-1)
        values = np.exp(np.stack([middle, middle - half, middle + half], axis=-1))
        num_differing += host_speeds(HostRates(values, np.full(8, 2))) is not None
    assert num_differing <= 6


def test_speeds_are_relative_to_the_median_and_the_mean_of_both_kinds() -> None:
    rates = rates_of([2.0, 2.0, 2.0, 1.0])
    rates.values[:, 1::2] *= 4  # four cores are four times as fast
    rates.values[3, 2:] *= 2  # the memory of the slow one is as fast as that of the others

    speeds = host_speeds(rates)

    assert speeds is not None
    assert speeds.one_core.tolist() == pytest.approx([1, 1, 1, np.sqrt(0.5)])
    assert speeds.all_cores.tolist() == pytest.approx([4, 4, 4, 4 * np.sqrt(0.5)])
    assert speeds.seconds_per_work(0, 3) == pytest.approx(1.0)
    assert speeds.seconds_per_work(0, 8) == pytest.approx(2.0)


def test_hosts_of_two_kinds_differ() -> None:
    speeds = host_speeds(rates_of([1.0, 0.5, 1.0, 0.5]))

    assert speeds is not None
    assert speeds.one_core[1] / speeds.one_core[0] == pytest.approx(0.5)


def test_hosts_that_were_not_measured_count_as_the_median_one() -> None:
    rates = rates_of([1.0, 1.0, 0.5, 1.0])
    rates.values[3] = np.nan

    speeds = host_speeds(rates)

    assert speeds is not None
    assert speeds.one_core.tolist() == pytest.approx([1, 1, 0.5, 1])
    assert host_speeds(rates_of([1.0, 0.97, 1.0])) is None


def network(**fields: object) -> fl.Network:
    return fl.Network(("h0", "h1"), np.zeros((2, 2)), np.full((2, 2), np.inf), **fields)


def test_the_file_keeps_them_and_an_earlier_one_has_none(tmp_path: Path) -> None:
    net = network(host_rates=rates_of([1.0, 0.5]))
    net.save(tmp_path / "new.net.npz")

    loaded = fl.Network.load(tmp_path / "new.net.npz")

    assert loaded.host_rates is not None
    assert np.array_equal(loaded.host_rates.values, net.host_rates.values)
    assert loaded.select(["h1"]).host_rates.num_cores.tolist() == [2]
    with np.load(tmp_path / "new.net.npz") as archive:
        meta = json.loads(archive["meta"].item())
        pairs = {name: archive[name] for name in ("latency_s", "bandwidth_Bps")}
    fixed = {name: meta[name] for name in meta if name not in ("format", "kind", "version")}
    save_archive(tmp_path / "old.net.npz", "network", 2, fixed, pairs)
    assert fl.Network.load(tmp_path / "old.net.npz").host_rates is None


def test_impossible_rates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="host_rates: every value must be finite and > 0"):
        rates_of([1.0, -1.0])
    with pytest.raises(fl.errors.ShapeError, match="host_rates: expected 2 hosts, got 3"):
        network(host_rates=rates_of([1.0, 1.0, 1.0]))


def test_computing_times_are_kept_with_their_hosts(tmp_path: Path) -> None:
    nothing = np.zeros((2, 2))
    traffic = fl.Traffic(nothing, nothing, compute_s=[1.5, np.nan], compute_hosts=["h0", "h1"])
    traffic.save(tmp_path / "x.traffic.npz")

    loaded = fl.Traffic.load(tmp_path / "x.traffic.npz")

    assert np.array_equal(loaded.compute_s, [1.5, np.nan], equal_nan=True)
    assert loaded.compute_hosts == ("h0", "h1")
    assert loaded.carried.compute_hosts == ("h0", "h1")
    with pytest.raises(InputError, match="compute_s: every value must be finite and >= 0"):
        fl.Traffic(nothing, nothing, compute_s=[-1, 0], compute_hosts=["h0", "h1"])
