# SPDX-License-Identifier: Apache-2.0
"""Named patterns have the bytes of their closed forms, and keep ranks of a host together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fairlead.decide.order import pattern_named
from fairlead.errors import InputError
from fairlead.model.traffic import Traffic

BYTES = 1200.0


def sent(text: str, slots: list[int]) -> np.ndarray:
    return pattern_named(text, slots).between_hosts(slots, BYTES).bytes.toarray()


@pytest.mark.parametrize("num_hosts", [2, 3, 8])
@pytest.mark.parametrize("slots", [1, 4])
def test_ring_sends_to_the_next_host_what_an_allreduce_of_all_ranks_needs(
    num_hosts: int, slots: int
) -> None:
    # Patarasuk and Yuan 2009: each rank sends 2 (T - 1) / T of its bytes, all to its successor.
    num_ranks = num_hosts * slots

    found = sent("ring", [slots] * num_hosts)

    each = 2 * (num_ranks - 1) / num_ranks * BYTES
    assert np.allclose(found, each * np.roll(np.eye(num_hosts), 1, axis=1))


def test_gloo_sends_around_the_ring_the_other_way() -> None:
    # gloo/allreduce.cc, `ring`: recvRank = rank + 1, sendRank = rank - 1.
    found = sent("gloo", [1] * 4)

    each = 2 * 3 / 4 * BYTES
    assert np.allclose(found, [[0, 0, 0, each], [each, 0, 0, 0], [0, each, 0, 0], [0, 0, each, 0]])


# Drawn in the comment of NCCL's src/graph/trees.cc for 14 ranks: child and parent.
NCCL_14 = {
    1: 2, 3: 2, 2: 4, 5: 6, 7: 6, 6: 4, 4: 8, 9: 10, 11: 10, 10: 12, 13: 12, 12: 8, 8: 0,
}  # fmt: skip


def test_tree_is_the_one_that_nccl_draws_and_its_mirror() -> None:
    expected = np.zeros((14, 14))
    for child, parent in NCCL_14.items():
        for one, other in ((child, parent), (13 - child, 13 - parent)):
            expected[one, other] += BYTES / 2
            expected[other, one] += BYTES / 2

    assert np.array_equal(sent("tree", [4] * 14), expected)


def test_second_tree_of_an_odd_number_of_hosts_is_shifted_by_one() -> None:
    # NCCL's tree of 3 hosts is 1 - 2 - 0; shifted by one it is 2 - 0 - 1.
    expected = np.zeros((3, 3))
    for one, other in ((1, 2), (2, 0), (2, 0), (0, 1)):
        expected[one, other] += BYTES / 2
        expected[other, one] += BYTES / 2

    assert np.array_equal(sent("tree", [1, 1, 1]), expected)


@pytest.mark.parametrize("num_hosts", [2, 5, 8, 13, 32])
def test_double_tree_loads_every_host_but_its_roots_alike(num_hosts: int) -> None:
    # Sanders, Speck and Traeff 2009: who has children in one tree is a leaf of the other, so a host
    # has at most four edges, and both trees together 2 (H - 1).
    found = sent("tree", [1] * num_hosts)

    assert np.array_equal(found, found.T)
    assert found.sum() == 2 * 2 * (num_hosts - 1) * BYTES / 2
    assert found.sum(axis=1).max() <= 4 * BYTES / 2


@pytest.mark.parametrize("slots", [1, 3])
def test_all_to_all_sends_an_equal_part_to_each_host(slots: int) -> None:
    found = sent("all-to-all", [slots] * 5)

    # Each of `slots` ranks sends each of `slots` ranks of another host a (5 * slots)-th.
    assert np.allclose(found, slots * BYTES / 5 * (1 - np.eye(5)))


def test_grid_has_the_edges_of_a_grid_of_hosts() -> None:
    found = sent("grid:2x3", [4] * 6)

    #   0 1 2
    #   3 4 5
    edges = {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)}
    both = edges | {(high, low) for low, high in edges}
    assert {(int(a), int(b)) for a, b in np.argwhere(found)} == both
    assert set(found[found > 0]) == {BYTES}


def test_grid_of_ranks_is_summed_over_the_ranks_of_each_host() -> None:
    found = sent("grid:4x2", [4, 4])

    # Ranks 0 1 / 2 3 are on the first host, 4 5 / 6 7 on the second: 2-4 and 3-5 cross.
    assert np.array_equal(found, [[0, 2 * BYTES], [2 * BYTES, 0]])


def test_file_is_summed_over_the_ranks_of_each_host(tmp_path: Path) -> None:
    matrix = sp.csr_array(np.arange(16.0).reshape(4, 4))
    Traffic(bytes=matrix, messages=sp.csr_array(np.ones((4, 4)))).save(tmp_path / "x.traffic.npz")

    found = sent(str(tmp_path / "x.traffic.npz"), [2, 2])

    assert np.array_equal(found, [[0, 2 + 3 + 6 + 7], [8 + 9 + 12 + 13, 0]])


def test_ranks_of_uneven_hosts_count_as_one_for_each() -> None:
    assert np.array_equal(sent("all-to-all", [1, 2, 3]), BYTES / 3 * (1 - np.eye(3)))


@pytest.mark.parametrize(
    ("text", "slots", "said"),
    [
        ("star", [1, 1], "there are ring, gloo, tree, all-to-all, grid:AxB"),
        ("grid:", [1, 1], "expected grid:AxB"),
        ("grid:2x", [1, 1], "expected grid:AxB"),
        ("grid:0x2", [1, 1], "expected grid:AxB"),
        ("grid:3x3", [4, 4], "is for 9 ranks, but there are 2 hosts with 8 slots"),
        ("grid:3x2", [4, 2], "the hosts have 2 to 4 slots"),
    ],
)
def test_wrong_pattern_is_refused_in_one_line(text: str, slots: list[int], said: str) -> None:
    with pytest.raises(InputError) as refused:
        pattern_named(text, slots)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_long_text_that_is_no_pattern_is_named_with_what_there_is() -> None:
    with pytest.raises(InputError, match="there are ring, gloo, tree, all-to-all, grid:AxB"):
        pattern_named(300 * "x", (1, 1))
