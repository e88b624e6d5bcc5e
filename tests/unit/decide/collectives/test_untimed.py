# SPDX-License-Identifier: Apache-2.0
"""Which schedules may be tried though none was timed."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from instances import network, racks

import fairlead as fl
from fairlead.decide.collectives.untimed import (
    SHOWN_ERRORS,
    UNTIMED_OPERATIONS,
    UNTIMED_SIZES,
    UntimedSchedules,
    choose_untimed,
    predict_native,
    predict_schedule,
    shown_error,
)

FAR_RACKS = racks([0, 1, 0, 1, 0, 1, 0, 1], ratio=20.0)
"""Each host's neighbours are in the other rack."""


def placed(known: fl.Network, slots: int = 2) -> fl.Placement:
    host_of_rank = np.repeat(np.arange(known.num_hosts), slots)
    return fl.Placement(known.hosts, host_of_rank, method="launcher")


def chosen(known: fl.Network, slots: int = 2) -> UntimedSchedules:
    """However busy this machine is."""
    return choose_untimed(known, placed(known, slots), budget_s=math.inf)


def test_a_schedule_is_tried_where_it_saves_more_than_its_kind_was_off() -> None:
    found = chosen(FAR_RACKS)

    assert len(found.promises) == len(UNTIMED_OPERATIONS) * len(UNTIMED_SIZES)
    assert found.taken
    for one in found.promises:
        error = shown_error(one.kind.operation, one.method)
        assert one.is_enough == (one.schedule_s * error < one.native_s)


def test_a_rule_asks_for_as_much_of_the_calls_as_its_kind_was_off() -> None:
    found = chosen(FAR_RACKS)

    assert found.rules
    for rule in found.rules:
        error = shown_error(rule.operation, rule.method)
        assert rule.least_saved_ratio == pytest.approx(1 - 1 / error)
        assert rule.hosts == frozenset(FAR_RACKS.hosts)
        assert rule.num_ranks == 16


def test_on_an_even_network_hardly_anything_is() -> None:
    even = network(np.full((8, 8), 1e8))

    found = chosen(even)

    # Only a long broadcast, which one tree without segments sends level by level.
    assert {one.kind.operation for one in found.taken} <= {"bcast"}
    assert min(one.kind.message_bytes for one in found.taken) >= 256 << 10


def test_of_a_kind_without_a_shown_error_nothing_is_used() -> None:
    methods = {(one.kind.operation, one.method.removesuffix("_8k").removesuffix("_64k"))
               for one in chosen(FAR_RACKS).promises}  # fmt: skip

    assert methods <= SHOWN_ERRORS.keys()
    assert shown_error("reduce", "pipeline_8k") == np.inf
    assert shown_error("bcast", "forest_64k") == SHOWN_ERRORS["bcast", "forest"]


def test_no_further_call_is_predicted_after_the_budget() -> None:
    seconds = itertools.count()

    found = choose_untimed(
        FAR_RACKS, placed(FAR_RACKS), budget_s=2.5, clock=lambda: float(next(seconds))
    )

    assert len(found.promises) == 2
    assert found.num_left_out == len(UNTIMED_OPERATIONS) * len(UNTIMED_SIZES) - 2


def test_the_mpi_takes_hosts_in_the_order_of_their_ranks() -> None:
    # In rack order a ring has two slow edges, in that of the network eight.
    in_order = placed(FAR_RACKS)
    by_rack = dataclasses.replace(
        in_order, host_of_rank=np.repeat([0, 2, 4, 6, 1, 3, 5, 7], 2), method="other"
    )
    uplinks = dataclasses.replace(
        FAR_RACKS,
        groups=(
            fl.BottleneckGroup(np.array([(s, d) for s in range(0, 8, 2) for d in range(1, 8, 2)]),
                               capacity_Bps=6e6),
        ),
    )  # fmt: skip

    times_s = [predict_native("allgather", 1 << 20, uplinks, one) for one in (in_order, by_rack)]

    assert times_s[1] < 0.5 * times_s[0]


def test_a_block_of_a_host_is_that_of_all_its_ranks() -> None:
    one, two = (
        predict_schedule("allgather", 1 << 20, FAR_RACKS, placed(FAR_RACKS, slots), "ring")
        for slots in (1, 2)
    )

    assert two.message_bytes == 2 * one.message_bytes
