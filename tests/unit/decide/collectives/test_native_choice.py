# SPDX-License-Identifier: Apache-2.0
"""The choice among an MPI's own algorithms and orders of hosts."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.tuning_files import NativeRule
from fairlead.decide.collectives.native_choice import (
    OWN,
    NativeTimes,
    choose_native,
    native_rules,
    other_order_is_better,
)
from fairlead.measure.collective_times import TimedCall

PLACEMENT = fl.Placement(("a", "b", "c", "d"), np.array([0, 0, 1, 1, 2, 2, 3, 3]))
CALL = TimedCall("bcast", 65536, tuple(range(8)))


def found(binomial_s: float = 5.0, other_order: float = 1.0) -> NativeTimes:
    """The MPI takes a second by itself, and so much of each time in the other order."""
    row = [1.0, binomial_s, other_order, binomial_s * other_order]
    return NativeTimes(CALL, ("binomial", "binomial"), np.array([row] * 8))


def test_algorithm_is_taken_where_it_is_faster_and_the_order_stays() -> None:
    one = found(0.5)

    assert not other_order_is_better([one])
    choice = choose_native(one, PLACEMENT, False)
    assert (choice.name, choice.is_taken, choice.fastest_s) == ("binomial", True, 0.5)
    assert native_rules([choice]) == [NativeRule("bcast", "binomial", 32768, 131071)]


def test_order_alone_is_taken_without_a_rule() -> None:
    one = found(other_order=0.4)

    assert other_order_is_better([one])
    choice = choose_native(one, PLACEMENT, True)
    assert (choice.name, choice.is_taken, choice.fastest_s) == (OWN, True, 0.4)
    assert native_rules([choice]) == []


def test_algorithm_in_the_other_order_saves_against_the_mpi_as_it_is() -> None:
    one = found(0.5, other_order=0.4)

    choice = choose_native(one, PLACEMENT, True)

    assert (choice.name, choice.fastest_s) == ("binomial", 0.2)
    assert choice.gain is not None
    assert choice.gain.ratio == pytest.approx(0.8)


def test_mpi_as_it_is_stays_where_nothing_is_faster() -> None:
    choice = choose_native(found(), PLACEMENT, False)

    assert not choice.is_taken
    assert choice.native_s == 1.0
    assert native_rules([choice]) == []


def test_order_that_saves_next_to_nothing_is_not_taken() -> None:
    assert not other_order_is_better([found(other_order=0.985)])
    assert other_order_is_better([found(other_order=0.975)])
