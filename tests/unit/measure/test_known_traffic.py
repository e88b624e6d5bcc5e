# SPDX-License-Identifier: Apache-2.0
"""When the traffic of a running program is known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fairlead.measure.known_traffic import KnownTraffic, difference

RING = sp.csr_array(100 * np.roll(np.eye(4), 1, axis=1))
OTHER_WAY = sp.csr_array(100 * np.roll(np.eye(4), -1, axis=1))
INPUT = sp.csr_array(np.array([[0.0, 1e4, 1e4, 1e4], [0] * 4, [0] * 4, [0] * 4]))


def seen_at(*sent: sp.csr_array) -> KnownTraffic:
    """A program that is looked at each second."""
    pattern = KnownTraffic()
    for moment, matrix in enumerate(sent, 1):
        pattern.add(moment, sp.csr_array(matrix))
    return pattern


def test_traffics_that_differ_by_a_factor_are_alike() -> None:
    assert difference(RING, 7 * RING) == 0


def test_traffics_of_other_pairs_have_nothing_in_common() -> None:
    assert difference(RING, OTHER_WAY) == pytest.approx(1)


def test_half_of_the_bytes_elsewhere_is_a_difference_of_a_half() -> None:
    assert difference(RING, RING + OTHER_WAY) == pytest.approx(0.5)


def test_no_traffic_is_like_no_other() -> None:
    assert np.isnan(difference(RING, 0 * RING))


def test_a_step_that_has_come_three_times_is_known() -> None:
    assert not seen_at(RING, 2 * RING, 3 * RING).is_known
    known = seen_at(RING, 2 * RING, 3 * RING, 4 * RING)
    assert (known.repetitions, known.difference) == (3, 0)
    assert known.is_known


def test_a_step_in_two_parts_has_come_when_both_have() -> None:
    # One second the ring, the next the other way.
    sent = [RING * ((second + 1) // 2) + OTHER_WAY * (second // 2) for second in range(1, 13)]

    pattern = seen_at(*sent[1:])

    assert pattern.repetitions == 5
    assert pattern.is_known


def test_what_is_sent_once_at_the_beginning_has_to_become_small() -> None:
    steps = [INPUT + number * RING for number in range(1, 8)]
    assert not seen_at(*steps).is_known

    later = [INPUT + 1000 * number * RING for number in range(1, 30)]
    assert seen_at(*later).is_known


def test_another_phase_is_not_known() -> None:
    first = [number * RING for number in range(1, 8)]

    pattern = seen_at(*first, *(7 * RING + number * OTHER_WAY for number in range(1, 5)))

    assert pattern.difference > 0.5
    assert not pattern.is_known


def test_a_program_that_sends_nothing_is_not_known() -> None:
    assert not seen_at(*[0 * RING] * 10).is_known


def test_many_moments_are_thinned_out() -> None:
    assert seen_at(*(number * RING for number in range(1, 500))).is_known
