# SPDX-License-Identifier: Apache-2.0
"""Which pairs are chosen, in how many batches, and how they are passed to the program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.errors import InputError
from fairlead.measure.probe_program import chosen_pairs
from fairlead.measure.sampling import SampleDesign, Sampler
from fairlead.measure.sampling.rounds import measure_in_batches
from fairlead.model.network import Network


@given(num_hosts=st.integers(9, 200), seed=st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_first_batch_has_the_requested_size_and_reaches_all_hosts(
    num_hosts: int, seed: int
) -> None:
    sampler = Sampler(num_hosts, seed)
    size = SampleDesign().batch_sizes(num_hosts)[0]

    pairs = sampler.first(size)

    assert pairs.sum() == 2 * size == 2 * sampler.num_asked
    assert np.array_equal(pairs, pairs.T) and not pairs.diagonal().any()
    assert pairs.any(axis=1).all()


def test_all_pairs_can_be_asked_for() -> None:
    sampler = Sampler(20)
    assert sampler.first(190).sum() == 2 * 190


@pytest.mark.parametrize("num_hosts", [1, 2, 8])
def test_few_hosts_are_measured_whole(num_hosts: int) -> None:
    seen = []
    pairs = measure_in_batches(SampleDesign(0.1), num_hosts, lambda mask, _: seen.append(mask))

    assert len(seen) == 1
    assert np.array_equal(pairs, ~np.eye(num_hosts, dtype=bool))


@pytest.mark.parametrize("num_hosts", [9, 16, 100, 1024])
@pytest.mark.parametrize("ratio", [0.5, 0.9, 1.0])
def test_batches_add_up_to_the_share(num_hosts: int, ratio: float) -> None:
    num_pairs = num_hosts * (num_hosts - 1) // 2
    assert sum(SampleDesign(ratio).batch_sizes(num_hosts)) == round(ratio * num_pairs)


def test_without_a_share_the_first_batch_grows_as_h_log_h() -> None:
    sizes = [SampleDesign().batch_sizes(num_hosts)[0] for num_hosts in (64, 256, 1024)]
    per_unit = np.array(sizes) / [64 * 6, 256 * 8, 1024 * 10]
    assert np.ptp(per_unit) < 0.01


def test_share_that_leaves_hosts_out_is_refused_with_the_least_one() -> None:
    with pytest.raises(InputError, match=r"0\.05 of 190 pairs are 10; .* a ratio of 0\.22"):
        SampleDesign(0.05).check(20)
    SampleDesign(0.22).check(20)


def test_sampling_ends_when_nothing_more_can_be_measured() -> None:
    calls = []

    def measure(pairs: np.ndarray, share_ratio: float) -> Network | None:
        calls.append(share_ratio)
        return None

    measure_in_batches(SampleDesign(0.5), 30, measure)

    assert len(calls) == 1


def test_an_order_names_each_pair_once_the_lower_host_first() -> None:
    mask = np.zeros((4, 4), dtype=bool)
    for low, high in ((0, 3), (1, 2)):
        mask[low, high] = mask[high, low] = True
    assert chosen_pairs(mask) == [[0, 3], [1, 2]]
    assert chosen_pairs(np.zeros((3, 3), dtype=bool)) == []
