# SPDX-License-Identifier: Apache-2.0
"""Estimates of unmeasured pairs: exact where they can be, honest where they cannot."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fairlead.measure.sampling import SampleDesign, complete
from fairlead.measure.sampling.rounds import measure_in_batches
from fairlead.model.network import Network


def blocks(num_hosts: int, num_racks: int, seed: int = 0) -> tuple[Network, np.ndarray]:
    """Racks in hidden order: 20 us and 1 GB/s inside; 80 us between, 200 MB/s up and 300 down."""
    rack = np.random.default_rng(seed).permutation(num_hosts) % num_racks
    is_near = rack[:, None] == rack
    latency_s = np.where(is_near, 20e-6, 80e-6)
    bandwidth = np.where(is_near, 1e9, np.where(rack[:, None] < rack, 200e6, 300e6))
    return network_of(latency_s, bandwidth), rack


def network_of(latency_s: np.ndarray, bandwidth_Bps: np.ndarray) -> Network:
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    shape = latency_s.shape
    return Network(
        [f"n{host}" for host in range(len(latency_s))],
        latency_s,
        bandwidth_Bps,
        *(latency_s * 0.99, latency_s * 1.01, bandwidth_Bps * 0.99, bandwidth_Bps * 1.01),
        samples=np.full(shape, 12),
        origin={"how": "measured"},
    )


def noisy(num_hosts: int, seed: int) -> tuple[Network, Network]:
    """Four racks with lognormal pairs and hosts: what is true, and what a measurement finds."""
    random = np.random.default_rng(seed)
    plain, _ = blocks(num_hosts, 4, seed)

    def lognormal(deviation: float, *, is_symmetric: bool) -> np.ndarray:
        drawn = random.normal(0, deviation, (num_hosts, num_hosts))
        return np.exp(np.triu(drawn, 1) + np.triu(drawn, 1).T if is_symmetric else drawn)

    hosts = np.exp(random.normal(0, 0.1, num_hosts))
    latency_s = plain.latency_s * lognormal(0.15, is_symmetric=True)
    bandwidth = plain.bandwidth_Bps * np.outer(hosts, hosts) * lognormal(0.15, is_symmetric=False)
    found_s = latency_s * lognormal(0.03, is_symmetric=True)
    found_Bps = bandwidth * lognormal(0.03, is_symmetric=False)
    return network_of(latency_s, bandwidth), network_of(found_s, found_Bps)


def masked(network: Network, measured: np.ndarray) -> Network:
    """The network with only these pairs measured."""
    keep = measured | np.eye(network.num_hosts, dtype=bool)
    names = [field.name for field in dataclasses.fields(network)]
    changes = {
        name: np.where(keep, getattr(network, name), np.nan)
        for name in names
        if name.startswith(("latency", "bandwidth"))
    }
    return dataclasses.replace(network, **changes, samples=np.where(keep, network.samples, 0))


def sampled(network: Network, plan: SampleDesign) -> tuple[Network, np.ndarray]:
    """What the probe would make of a network, and the pairs that it measured."""
    asked = np.zeros((network.num_hosts, network.num_hosts), dtype=bool)

    def measure(pairs: np.ndarray, share_ratio: float) -> Network:
        assert 0 < share_ratio <= 1
        asked[pairs] = True
        return masked(network, asked)

    proposed = measure_in_batches(plan, network.num_hosts, measure)
    assert np.array_equal(proposed, asked)
    return complete(masked(network, asked), seed=plan.seed), asked


@pytest.mark.parametrize(("num_hosts", "num_racks"), [(24, 2), (40, 4), (64, 2)])
def test_racks_without_noise_are_recovered_exactly(num_hosts: int, num_racks: int) -> None:
    truth, _ = blocks(num_hosts, num_racks)

    found, asked = sampled(truth, SampleDesign(0.4))

    assert 0 < asked.sum() < asked.size / 2
    np.testing.assert_allclose(found.latency_s, truth.latency_s, rtol=1e-9)
    np.testing.assert_allclose(found.bandwidth_Bps, truth.bandwidth_Bps, rtol=1e-9)


def test_directions_are_estimated_apart() -> None:
    truth, rack = blocks(40, 2)

    found, asked = sampled(truth, SampleDesign(0.3))

    up = ~asked & (rack[:, None] < rack)
    down = ~asked & (rack[:, None] > rack)
    assert np.allclose(found.bandwidth_Bps[up], 200e6)
    assert np.allclose(found.bandwidth_Bps[down], 300e6)


def test_measured_pairs_keep_value_interval_and_samples() -> None:
    _, measured = noisy(32, seed=1)

    found, asked = sampled(measured, SampleDesign(0.4))

    for name in ("latency_s", "latency_low_s", "latency_high_s", "bandwidth_Bps",
                 "bandwidth_low_Bps", "bandwidth_high_Bps", "samples"):  # fmt: skip
        assert np.array_equal(getattr(found, name)[asked], getattr(measured, name)[asked])
    others = ~asked & ~np.eye(32, dtype=bool)
    assert found.samples is not None and np.all(found.samples[others] == 0)
    assert np.array_equal(found.is_estimated(), others)


def test_error_bars_hold_as_many_true_values_as_they_claim() -> None:
    shares = []
    for seed in range(5):
        truth, measured = noisy(48, seed)
        found, asked = sampled(measured, SampleDesign(0.3, seed=seed))
        others = ~asked & ~np.eye(48, dtype=bool)
        for name, unit in (("latency", "s"), ("bandwidth", "Bps")):
            true, low, high = (
                getattr(net, f"{name}{part}_{unit}")[others]
                for net, part in ((truth, ""), (found, "_low"), (found, "_high"))
            )
            shares.append(np.mean((low <= true) & (true <= high)))

    assert 0.92 < np.mean(shares) < 0.99
    assert min(shares) > 0.8


def test_error_bars_are_no_longer_than_the_noise_asks_for() -> None:
    _, measured = noisy(64, seed=3)

    found, asked = sampled(measured, SampleDesign(0.35))

    # Pairs scatter by 15 % and cannot be known better: 1.96 deviations are 34 %.
    others = ~asked & ~np.eye(64, dtype=bool)
    bar = np.log(found.bandwidth_high_Bps[others] / found.bandwidth_Bps[others])
    assert 0.25 < np.median(bar) < 0.55


def test_structure_beats_the_median_of_all_pairs() -> None:
    truth, measured = noisy(64, seed=4)

    found, asked = sampled(measured, SampleDesign(0.25))

    others = ~asked & ~np.eye(64, dtype=bool)
    middle = np.median(measured.bandwidth_Bps[asked])
    error, plain = (
        np.quantile(np.abs(np.log(guess / truth.bandwidth_Bps[others])), 0.9)
        for guess in (found.bandwidth_Bps[others], middle)
    )
    assert error < plain / 2


def test_sampling_ends_by_itself_when_the_error_bars_are_short() -> None:
    plain, _ = blocks(64, 2)
    _, measured = noisy(64, seed=4)

    exact, few = sampled(plain, SampleDesign())
    _, more = sampled(measured, SampleDesign())

    # Without noise the first batch shows all.
    assert few.sum() == 2 * SampleDesign().batch_sizes(64)[0]
    np.testing.assert_allclose(exact.bandwidth_Bps, plain.bandwidth_Bps, rtol=1e-9)
    assert few.sum() < more.sum() < 0.8 * more.size


def test_equal_seeds_measure_and_estimate_alike() -> None:
    _, measured = noisy(32, seed=5)

    first, asked = sampled(measured, SampleDesign(0.4, seed=7))
    again, asked_again = sampled(measured, SampleDesign(0.4, seed=7))
    _, asked_otherwise = sampled(measured, SampleDesign(0.4, seed=8))

    assert np.array_equal(asked, asked_again)
    assert np.array_equal(first.bandwidth_Bps, again.bandwidth_Bps)
    assert not np.array_equal(asked, asked_otherwise)


def test_host_that_was_never_measured_stays_unknown() -> None:
    _, measured = noisy(24, seed=6)
    partly = np.random.default_rng(0).random((24, 24)) < 0.5
    partly = partly | partly.T
    partly[5, :] = partly[:, 5] = False

    found = complete(masked(measured, partly))

    assert len(found.unmeasured_pairs()) == 2 * 23
    assert all("n5" in pair for pair in found.unmeasured_pairs())


def test_lost_pairs_stay_unknown() -> None:
    _, measured = noisy(24, seed=6)
    partly = np.random.default_rng(0).random((24, 24)) < 0.5
    partly = partly | partly.T
    partly[3, 4] = partly[4, 3] = False
    lost = np.zeros((24, 24), dtype=bool)
    lost[3, 4] = lost[4, 3] = True

    found = complete(masked(measured, partly), lost)

    assert found.unmeasured_pairs() == [("n3", "n4"), ("n4", "n3")]


def test_too_few_pairs_are_not_extrapolated() -> None:
    truth, _ = blocks(12, 2)
    few = np.zeros((12, 12), dtype=bool)
    few[0, 1:6] = few[1:6, 0] = True

    found = complete(masked(truth, few))

    assert not found.is_estimated().any()
    assert found.origin["sample"] == {"measured_pairs": 5, "all_pairs": 66}


def test_origin_says_how_the_network_came_about() -> None:
    _, measured = noisy(32, seed=9)

    found, asked = sampled(measured, SampleDesign(0.4))

    sample = found.origin["sample"]
    assert found.origin["how"] == "sampled"
    assert (sample["measured_pairs"], sample["all_pairs"]) == (asked.sum() // 2, 496)
    assert "groups" in sample["bandwidth_method"]
    assert 0 < sample["latency_error_bar_ratio"] < sample["bandwidth_error_bar_ratio"] < 1


def test_completed_network_survives_its_file(tmp_path) -> None:
    _, measured = noisy(24, seed=2)
    found, _ = sampled(measured, SampleDesign(0.5))
    found.save(tmp_path / "a.net.npz")

    again = Network.load(tmp_path / "a.net.npz")

    assert np.array_equal(again.is_estimated(), found.is_estimated())
    assert again.origin == found.origin
