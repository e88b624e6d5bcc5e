# SPDX-License-Identifier: Apache-2.0
"""Which algorithm of a collective is taken, and the rules that follow."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.choosing import Choice, choose, rules_of, size_ranges
from fairlead.decide.expected_gain import Gain
from fairlead.measure.collective_times import CollectiveTimes

HOSTS = frozenset("ab")
KIND = CallKind("allgather", 4096, HOSTS, 4)


def chosen(*times_s: list[float], is_right: list[bool] | None = None) -> Choice:
    rounds_s = np.array(times_s).T
    times = CollectiveTimes(is_right or [True] * len(times_s), rounds_s)
    names = ["ring", "forest", "linear"][: len(times_s) - 1]
    return choose(KIND, names, times)


def taken(size: int, hosts: frozenset[str] = HOSTS, num_ranks: int = 4) -> Choice:
    kind = CallKind("allgather", size, hosts, num_ranks)
    return Choice(kind, 2.0, "ring", 1.0, Gain(0.5, 0.4, 0.6), is_taken=True)


def test_fastest_of_those_that_are_faster_in_every_round_is_taken() -> None:
    choice = chosen([1.0] * 8, [0.9] * 8, [0.5] * 8)

    assert (choice.is_taken, choice.name) == (True, "forest")
    assert choice.native_s == 1.0
    assert choice.fastest_s == 0.5


def test_native_stays_where_the_interval_reaches_a_loss() -> None:
    choice = chosen([1.0] * 8, [0.5, 0.5, 0.5, 0.5, 0.5, 1.1, 1.1, 0.5])

    assert not choice.is_taken
    assert choice.name == "ring"


def test_native_stays_where_a_saving_is_sure_and_small() -> None:
    assert not chosen([1.0] * 8, [0.99] * 8).is_taken


def test_three_candidates_need_more_rounds_than_one() -> None:
    # All of 6 rounds agree by chance in 1 of 32 cases: enough for one candidate, not for three.
    assert chosen([1.0] * 6, [0.5] * 6).is_taken
    assert not chosen([1.0] * 6, [0.5] * 6, [0.9] * 6, [0.9] * 6).is_taken


def test_algorithm_that_delivered_something_else_is_never_taken() -> None:
    choice = chosen([1.0] * 8, [math.nan] * 8, is_right=[True, False])

    assert choice.name is None
    assert not choice.is_taken


def test_algorithm_that_another_one_beat_in_the_first_rounds_is_not_called_the_fastest() -> None:
    kept = [0.8] * 4 + [1.0] * 5
    dropped = [0.82] * 4 + [math.nan] * 5

    choice = chosen([1.0] * 9, dropped, kept)

    assert (choice.is_taken, choice.name, choice.num_rounds) == (False, "forest", 9)


def test_algorithm_that_was_dropped_is_not_taken_and_seen_as_slower() -> None:
    choice = chosen([1.0] * 8, [2.0] * 4 + [math.nan] * 4)

    assert not choice.is_taken
    assert choice.gain is not None
    assert choice.gain.ratio == -1


def test_wrong_native_result_is_an_error() -> None:
    with pytest.raises(fl.InputError, match="the MPI's own algorithm failed"):
        chosen([1.0], is_right=[False])


def test_size_stands_for_half_to_twice_of_it() -> None:
    assert size_ranges([4096]) == [(2048, 8191)]
    assert size_ranges([4096, 16384]) == [(2048, 8191), (8192, 32767)]


@given(st.lists(st.integers(1, 1 << 30), min_size=1, max_size=12, unique=True).map(sorted))
def test_ranges_hold_their_sizes_and_do_not_overlap(sizes: list[int]) -> None:
    ranges = size_ranges(sizes)

    assert all(low <= size <= high for size, (low, high) in zip(sizes, ranges, strict=True))
    assert all(high < low for (_, high), (low, _) in itertools.pairwise(ranges))


def test_barrier_has_a_rule_of_one_size() -> None:
    assert size_ranges([0]) == [(0, 0)]


def test_neighbouring_sizes_with_one_method_share_a_rule() -> None:
    (rule,) = rules_of([taken(16384), taken(4096)])

    assert (rule.min_bytes, rule.max_bytes, rule.method) == (2048, 32767, "ring")


def test_gap_and_native_sizes_are_covered_by_no_rule() -> None:
    native = Choice(CallKind("allgather", 16384, HOSTS, 4), 1.0)

    rules = rules_of([taken(4096), native, taken(65536)])

    assert [(rule.min_bytes, rule.max_bytes) for rule in rules] == [(2048, 8191), (32768, 131071)]


def test_other_hosts_have_rules_of_their_own() -> None:
    rules = rules_of([taken(4096), taken(4096, hosts=frozenset("abc"))])

    assert [sorted(rule.hosts or ()) for rule in rules] == [["a", "b"], ["a", "b", "c"]]


def test_other_numbers_of_ranks_have_rules_of_their_own() -> None:
    rules = rules_of([taken(4096), taken(8192, num_ranks=2), taken(16384)])

    found = [(rule.num_ranks, rule.min_bytes, rule.max_bytes) for rule in rules]
    assert found == [(2, 4096, 16383), (4, 2048, 32767)]
