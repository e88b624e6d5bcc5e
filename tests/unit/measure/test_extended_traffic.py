# SPDX-License-Identifier: Apache-2.0
"""A traffic for another number of ranks, against the exact matrices of closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

import fairlead as fl
from fairlead.measure.extended_traffic import extend_traffic
from fairlead.measure.known_traffic import traffic_difference
from fairlead.model.collective_call import CollectiveCall
from fairlead.model.regular_patterns.grid import balanced_sides

Matrix = npt.NDArray[np.float64]
CELLS = 720


def halo(sides: tuple[int, ...], wraps: tuple[bool, ...], *, cells: int = CELLS) -> Matrix:
    """Bytes of one exchange of faces, of a domain of `cells` in each dimension, in C order."""
    places = list(itertools.product(*map(range, sides)))
    sent = np.zeros((len(places), len(places)))
    for (src, place), at, step in itertools.product(enumerate(places), range(len(sides)), (-1, 1)):
        there = list(place)
        there[at] += step
        if not wraps[at] and not 0 <= there[at] < sides[at]:
            continue
        there[at] %= sides[at]
        face = np.prod([cells // side for axis, side in enumerate(sides) if axis != at])
        sent[src, places.index(tuple(there))] += 8 * face
    return sent


def traffic_of(sent: Matrix, calls: int = 100) -> fl.Traffic:
    messages = calls * (sent > 0)
    return fl.Traffic(calls * sent, messages, sent * (sent > 0))


@pytest.mark.parametrize(
    ("before", "after", "wraps", "name"),
    [
        ((8,), (12,), (True,), "a ring"),
        ((12,), (5,), (False,), "a chain"),
        ((4, 3), (4, 4), (False, False), "a grid of 4x3"),
        ((4, 4), (6, 4), (True, True), "a torus of 4x4"),
        ((4, 4), (6, 5), (True, False), "a grid of 4x4"),
        ((3, 3, 3), (4, 4, 4), (True, True, True), "a torus of 3x3x3"),
        ((4, 3, 3), (3, 3, 3), (False, True, False), "a grid of 4x3x3"),
        ((3, 4), (4, 6), (True, True), "a torus of 3x4"),
    ],
)
def test_grids_are_those_of_a_domain_divided_among_other_ranks(
    before: tuple[int, ...], after: tuple[int, ...], wraps: tuple[bool, ...], name: str
) -> None:
    known, wanted = (traffic_of(halo(sides, wraps)) for sides in (before, after))

    found = extend_traffic(known, int(np.prod(after)))

    assert found is not None
    assert found.pattern == name
    for part in ("bytes", "messages", "max_message_bytes"):
        got, expected = (getattr(one, part).toarray() for one in (found.traffic, wanted))
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_where_the_problem_grows_with_the_ranks_each_sends_as_much() -> None:
    known = traffic_of(halo((4, 4), (True, True)))
    found = extend_traffic(known, 64, is_same_problem=False)
    assert found is not None
    assert set(found.traffic.bytes.data) == set(known.bytes.data)


def test_all_to_all_sends_each_rank_its_block_of_the_same_data() -> None:
    def transposed(num_ranks: int) -> fl.Traffic:
        block = 8.0 * CELLS**2 / num_ranks**2
        blocks = block * (1 - np.eye(num_ranks))
        return fl.Traffic(
            np.zeros_like(blocks), np.zeros_like(blocks),
            exchange_bytes=blocks, exchange_messages=blocks > 0, exchange_max_message_bytes=blocks,
        )  # fmt: skip

    found = extend_traffic(transposed(6), 10)

    assert found is not None
    assert found.pattern == "all-to-all"
    np.testing.assert_allclose(
        found.traffic.exchange_bytes.toarray(), transposed(10).exchange_bytes.toarray()
    )


def test_a_star_stays_around_its_rank() -> None:
    def star(num_ranks: int) -> fl.Traffic:
        sent = np.zeros((num_ranks, num_ranks))
        sent[0, 1:], sent[1:, 0] = 64.0 * 60 / (num_ranks - 1), 60.0 * 60 / (num_ranks - 1)
        return traffic_of(sent)

    found = extend_traffic(star(7), 11)

    assert found is not None
    assert found.pattern == "a star around the first rank"
    np.testing.assert_allclose(found.traffic.bytes.toarray(), star(11).bytes.toarray())


def test_collectives_of_all_ranks_are_of_all_again_and_others_are_not_extended() -> None:
    def with_call(size: int, message_bytes: int) -> fl.Traffic:
        sent = halo((8,), (True,))
        call = CollectiveCall("allreduce", size, message_bytes, 80, 4.0, None, 0)
        return fl.Traffic(sent, sent > 0, sent, collectives=[call], communicators=[np.arange(size)])

    found = extend_traffic(with_call(8, 8), 12)
    assert found is not None
    (call,) = found.traffic.collectives
    assert (call.communicator_size, call.message_bytes, call.calls) == (12, 8, 120)
    assert extend_traffic(with_call(4, 100_000), 12) is None


def test_roots_are_those_of_the_other_number_of_ranks() -> None:
    def with_root(size: int, root: int | None) -> fl.Traffic:
        sent = halo((size,), (True,))
        call = CollectiveCall("bcast", size, 8, 80, 4.0, root, 0)
        return fl.Traffic(sent, sent > 0, sent, collectives=[call], communicators=[np.arange(size)])

    for root, expected in ((7, 3), (2, 2), (5, None)):
        found = extend_traffic(with_root(8, root), 4)
        assert found is not None
        assert found.traffic.collectives[0].root == expected
    grown = extend_traffic(with_root(8, 7), 12)
    assert grown is not None
    assert grown.traffic.collectives[0].root == 11


def test_no_pattern_is_extended_to_one_rank() -> None:
    sent = np.zeros((7, 7))
    sent[0, 1:] = 64.0
    assert extend_traffic(traffic_of(sent), 1) is None


def test_what_is_not_regular_is_not_extended() -> None:
    random = np.random.default_rng(1)
    scattered = np.where(random.random((16, 16)) < 0.2, random.random((16, 16)), 0.0)
    assert extend_traffic(traffic_of(1e6 * scattered), 32) is None
    # MPI_Dims_create makes 4x4 of 16, so nothing says what this program makes of 32.
    assert extend_traffic(traffic_of(halo((8, 2), (True, True))), 32) is None
    # Both neighbours in a dimension of two ranks are one: it may wrap or not.
    assert extend_traffic(traffic_of(halo((2, 2), (False, False))), 16) is None
    assert extend_traffic(traffic_of(halo((4, 4), (True, True))), 13) is None
    # One rank of a ring that also talks to all is another pattern.
    hub = halo((16,), (True,))
    hub[3, :] += hub[3].max() / 4
    assert extend_traffic(traffic_of(hub), 32) is None


def test_a_ring_with_a_little_noise_is_one() -> None:
    random = np.random.default_rng(2)
    noisy = halo((16,), (True,)) * random.uniform(0.99, 1.01, (16, 16))
    found = extend_traffic(traffic_of(noisy), 24)
    assert found is not None
    assert traffic_difference(found.traffic, traffic_of(halo((24,), (True,)))) < 0.01


def test_sides_are_balanced() -> None:
    sides = [balanced_sides(*asked) for asked in ((24, 2), (24, 3), (36, 3), (7, 2), (32, 3))]
    assert sides == [(6, 4), (4, 3, 2), (4, 3, 3), (7, 1), (4, 4, 2)]
