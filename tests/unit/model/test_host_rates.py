# SPDX-License-Identifier: Apache-2.0
"""Rates of hosts: the speeds by them, and what is kept in files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from host_rate_samples import rates_of

import fairlead as fl
from fairlead.errors import InputError
from fairlead.files.archive import save_archive
from fairlead.model.host_rates import HostRates, host_speeds


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
    rates.values[3], rates.num_cores[3] = np.nan, 0

    speeds = host_speeds(rates)

    assert speeds is not None
    assert speeds.one_core.tolist() == pytest.approx([1, 1, 0.5, 1])
    assert host_speeds(rates_of([1.0, 0.97, 1.0])) is None


def test_a_speed_is_the_mean_of_what_is_known() -> None:
    rates = rates_of([1.0, 1.0, 1.0, 0.5])
    rates.values[3, 2:] = np.nan  # its memory could not be measured
    without_memory = rates_of([1.0, 1.0, 1.0, 0.5])
    without_memory.values[:, 2:] = np.nan

    for case in (rates, without_memory):
        speeds = host_speeds(case)
        assert speeds is not None
        assert speeds.one_core.tolist() == pytest.approx([1, 1, 1, 0.5])
        assert speeds.all_cores.tolist() == pytest.approx([1, 1, 1, 0.5])


def test_more_cpus_are_more_in_all_and_no_faster_core() -> None:
    rates = rates_of([1.0, 1.0, 1.0], num_cores=[8, 8, 4])
    rates.values[:, 1::2] *= rates.num_cores[:, None, None]

    speeds = host_speeds(rates)

    assert speeds is not None
    assert speeds.one_core.tolist() == pytest.approx([1, 1, 1])
    assert speeds.all_cores.tolist() == pytest.approx([8, 8, 4])


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (np.s_[1, 3, 0], np.nan, "host 1: all_cores_memory_Bps needs a value with both ends"),
        (np.s_[1, 3, 1], np.nan, "host 1: all_cores_memory_Bps needs a value with both ends"),
        (
            np.s_[1, 3, :],
            np.nan,
            "host 1: one_core_memory_Bps and all_cores_memory_Bps must be known together",
        ),
        (
            np.s_[0, 0, :],
            np.nan,
            "host 0: one_core_multiply_adds and all_cores_multiply_adds must be known together",
        ),
        (np.s_[0, 0, 0], 2.0, "a value is outside of its interval"),
        (np.s_[0, 0, 0], 0.0, "every value must be finite and > 0, or nan"),
        (np.s_[1, :], np.nan, "host_cores: host 1: expected 0 where no rate is known"),
    ],
)
def test_incomplete_rates_are_refused(place: object, value: float, words: str) -> None:
    values = rates_of([1.0, 1.0]).values.copy()
    values[place] = value

    with pytest.raises(InputError, match=re.escape(words)):
        HostRates(values, np.array([2, 2]))


def network(**fields: object) -> fl.Network:
    return fl.Network(("h0", "h1"), np.zeros((2, 2)), np.full((2, 2), np.inf), **fields)


def test_the_file_keeps_them_and_an_earlier_one_has_none(tmp_path: Path) -> None:
    net = network(host_rates=rates_of([1.0, 0.5]))
    net.save(tmp_path / "new.net.npz")

    loaded = fl.Network.load(tmp_path / "new.net.npz")

    assert loaded.host_rates is not None
    assert np.array_equal(loaded.host_rates.values, net.host_rates.values)
    assert loaded.host_rates.num_cores.tolist() == [2, 2]
    assert loaded.select(["h1"]).host_rates.num_cores.tolist() == [2]
    with np.load(tmp_path / "new.net.npz") as archive:
        meta = json.loads(archive["meta"].item())
        pairs = {name: archive[name] for name in ("latency_s", "bandwidth_Bps")}
    fixed = {name: meta[name] for name in meta if name not in ("format", "kind", "version")}
    save_archive(tmp_path / "old.net.npz", "network", 2, fixed, pairs)
    assert fl.Network.load(tmp_path / "old.net.npz").host_rates is None


def test_the_file_keeps_unknown_hosts_memory_and_numbers_of_cpus(tmp_path: Path) -> None:
    rates = rates_of([1.0, 0.5, 1.0], num_cores=[96, 4, 1])
    rates.values[1, 2:] = np.nan
    rates.values[2], rates.num_cores[2] = np.nan, 0
    three = fl.Network(
        ("h0", "h1", "h2"), np.zeros((3, 3)), np.full((3, 3), np.inf), host_rates=rates
    )
    three.save(tmp_path / "x.net.npz")

    loaded = fl.Network.load(tmp_path / "x.net.npz").host_rates

    assert loaded is not None
    assert np.array_equal(loaded.values, rates.values, equal_nan=True)
    assert loaded.num_cores.tolist() == [96, 4, 0]
    assert [*loaded.facts(("h0", "h1", "h2"))] == ["h0", "h1"]


def test_a_file_with_half_of_a_host_is_refused_by_name(tmp_path: Path) -> None:
    net = network(host_rates=rates_of([1.0, 0.5]))
    net.host_rates.values[1, 3] = np.nan
    net.save(tmp_path / "half.net.npz")

    with pytest.raises(InputError, match=r"half\.net\.npz: host_rates: host 1: one_core_memory"):
        fl.Network.load(tmp_path / "half.net.npz")


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
