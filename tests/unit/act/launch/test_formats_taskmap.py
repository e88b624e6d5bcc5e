# SPDX-License-Identifier: Apache-2.0
"""Flux's task map: blocks expand to what was encoded, in the forms that RFC 34 gives."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.act.launch.formats.taskmap import Block, encode, expand

blocks = st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))


@given(st.lists(st.integers(0, 5), max_size=60))
def test_expand_is_the_inverse_of_encode(node_of_task: list[int]) -> None:
    assert expand(encode(node_of_task)) == node_of_task


@given(st.lists(blocks, max_size=5))
def test_encoding_is_never_longer_than_one_block_per_run(given_blocks: list[Block]) -> None:
    node_of_task = expand(given_blocks)
    runs = sum(before != after for before, after in itertools.pairwise(node_of_task))

    assert len(encode(node_of_task)) <= runs + 1


@given(st.integers(0, 3), st.integers(2, 5), st.integers(1, 4), st.integers(2, 4))
def test_regular_map_is_one_block(first: int, nodes: int, tasks: int, repeat: int) -> None:
    assert encode(expand([(first, nodes, tasks, repeat)])) == [(first, nodes, tasks, repeat)]


@pytest.mark.parametrize(
    ("node_of_task", "expected"),
    [
        ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], [(0, 4, 4, 1)]),
        ([0, 1, 2, 3] * 4, [(0, 4, 1, 4)]),
        ([0, 0, 1, 1, 2, 2, 3, 3] * 2, [(0, 4, 2, 2)]),
        ([1, 0, 0, 1], [(1, 1, 1, 1), (0, 1, 2, 1), (1, 1, 1, 1)]),
        ([3, 3, 3], [(3, 1, 3, 1)]),
    ],
)
def test_block_cyclic_and_mixed_maps_have_the_known_form(
    node_of_task: list[int], expected: list[Block]
) -> None:
    assert encode(node_of_task) == expected
