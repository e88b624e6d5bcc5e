# SPDX-License-Identifier: Apache-2.0
"""Neighbourhood collectives of OTF2 traces.

Score-P 9 writes them as the collectives of all ranks, with the bytes for existing neighbours
(scorep_mpi_coll.inc.c), and defines the sides of a Cartesian topology. Until 8.4 it writes only
that the function was entered and left, as it still does for persistent collectives.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from otf2_calls import SCORE_P, calls, has_otf2, read, rows, same

pytestmark = has_otf2

NEIGHBOR_ALLTOALL = "MPI_Neighbor_alltoall"
SCORE_P_9 = "Score-P 9.0"


def test_neighbours_on_a_chain_get_the_parts_of_a_cartesian_topology(tmp_path: Path) -> None:
    # Three ranks in the order 3, 1, 0: both ends have one neighbour, to which 10 bytes go.
    events = calls(
        "alltoall",
        {3: (10, 10), 1: (20, 20), 0: (10, 10)},
        communicator="chain",
        region=NEIGHBOR_ALLTOALL,
    )
    traffic = read(
        tmp_path,
        4,
        events * 2,
        communicators={"chain": [3, 1, 0]},
        grids=[("chain", [-3])],
        creator=SCORE_P_9,
    )

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_max_message_bytes is not None
    expected = [[0, 20, 0, 0], [20, 0, 0, 20], [0, 0, 0, 0], [0, 20, 0, 0]]
    assert traffic.exchange_bytes.toarray().tolist() == expected
    assert traffic.exchange_messages.toarray()[1].tolist() == [2, 0, 0, 2]
    assert traffic.exchange_max_message_bytes.toarray()[1, 3] == 10
    assert rows(traffic) == [
        ("neighbor_alltoall", 3, 10, 4, None), ("neighbor_alltoall", 3, 20, 2, None)
    ]  # fmt: skip
    assert "left_out" not in traffic.origin
    assert "assumed" not in traffic.origin


def test_the_last_dimension_varies_first_and_a_periodic_one_wraps(tmp_path: Path) -> None:
    events = calls("alltoall", same(6, 16, 16), region=NEIGHBOR_ALLTOALL)
    traffic = read(tmp_path, 6, events, grids=[("world", [2, 3])], creator=SCORE_P_9)

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    # Rank 0 is at (0, 0): both neighbours in the first dimension are rank 3, at (1, 0).
    assert traffic.exchange_bytes.toarray()[0].tolist() == [0, 4, 4, 8, 0, 0]
    assert traffic.exchange_messages.toarray()[0].tolist() == [0, 1, 1, 2, 0, 0]
    assert traffic.exchange_bytes.toarray()[4].tolist() == [0, 8, 0, 4, 0, 4]


@pytest.mark.parametrize("name", ["allgather", "allgatherv"])
def test_the_bytes_of_an_allgather_are_those_of_one_neighbour(tmp_path: Path, name: str) -> None:
    region = f"MPI_Ineighbor_{name}"
    events = calls(name, same(4, 20, 20), region=region, is_blocking=False)
    traffic = read(tmp_path, 4, events, grids=[("world", [4])], creator=SCORE_P_9)

    assert rows(traffic) == [(f"ineighbor_{name}", 4, 10, 4, None)]
    assert traffic.exchange_bytes is not None
    assert traffic.exchange_bytes.toarray()[0].tolist() == [0, 10, 0, 10]
    assert "assumed" not in traffic.origin


@pytest.mark.parametrize("name", ["alltoallv", "alltoallw"])
def test_parts_of_different_sizes_are_shared_evenly_and_named(tmp_path: Path, name: str) -> None:
    events = calls(name, {0: (30, 0), 1: (0, 30), 2: (0, 0)}, region=f"MPI_Neighbor_{name}_c")
    traffic = read(tmp_path, 3, events, grids=[("world", [3])], creator=SCORE_P_9)

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_bytes.toarray().tolist() == [[0, 15, 15], [0, 0, 0], [0, 0, 0]]
    assert traffic.exchange_messages.sum() == 2
    assert traffic.origin["assumed"] == f"neighbor_{name} in even shares"


def test_exchanges_of_all_ranks_and_of_neighbours_add_up(tmp_path: Path) -> None:
    events = [
        *calls("alltoall", same(3, 10, 10), region=NEIGHBOR_ALLTOALL),
        *calls("alltoall", same(3, 9, 9)),
    ]
    traffic = read(tmp_path, 3, events, grids=[("world", [3])], creator=SCORE_P_9)

    assert traffic.exchange_bytes is not None and traffic.exchange_messages is not None
    assert traffic.exchange_max_message_bytes is not None
    assert traffic.exchange_bytes.toarray()[0].tolist() == [0, 8, 8]
    assert traffic.exchange_messages.toarray()[0].tolist() == [0, 2, 2]
    assert traffic.exchange_max_message_bytes.toarray()[0].tolist() == [0, 5, 5]


@pytest.mark.parametrize(
    "grids",
    [
        (),  # A graph, or a duplicate of a communicator with a topology.
        [("world", [2, 2])],  # Not as many ranks as it has.
        [("world", [6]), ("world", [2, 3])],  # A user's own topology, for example.
        [("other", [6])],
    ],
)
def test_without_one_known_topology_the_partners_are_unknown(
    tmp_path: Path, grids: list[tuple[str, list[int]]]
) -> None:
    events = calls("alltoall", same(6, 20, 20), region=NEIGHBOR_ALLTOALL)
    traffic = read(
        tmp_path,
        6,
        events,
        communicators={"other": [5, 4, 3, 2, 1, 0]},
        grids=grids,
        creator=SCORE_P_9,
    )

    assert not traffic.collectives
    assert traffic.exchange_bytes is not None and traffic.exchange_bytes.nnz == 0
    assert traffic.origin["left_out"] == (
        "6 calls of neighbor_alltoall, whose partners are unknown"
    )


def test_bytes_of_a_rank_without_neighbours_are_left_out(tmp_path: Path) -> None:
    events = calls("alltoall", {0: (20, 20)}, communicator="one", region=NEIGHBOR_ALLTOALL)
    traffic = read(
        tmp_path,
        2,
        events,
        communicators={"one": [0]},
        grids=[("one", [-1])],
        creator=SCORE_P_9,
    )

    assert traffic.origin["left_out"] == "1 call of neighbor_alltoall, whose partners are unknown"


@pytest.mark.parametrize(
    ("region", "left_out"),
    [
        ("MPI_Neighbor_alltoallv", "4 calls of neighbor_alltoallv, of which only the time is"),
        ("MPI_Ineighbor_allgather", "4 calls of ineighbor_allgather, of which only the time is"),
        ("MPI_NEIGHBOR_ALLTOALLW()", "4 calls of neighbor_alltoallw, of which only the time is"),
        ("MPI_Neighbor_alltoall_init", "4 calls of neighbor_alltoall_init, whose starts are not"),
        ("MPI_Allreduce_init", "4 calls of allreduce_init, whose starts are not"),
        ("MPI_Reduce_scatter_block_init_c", "4 calls of reduce_scatter_block_init, whose starts"),
    ],
)
def test_calls_of_which_a_trace_has_only_the_function_are_named(
    tmp_path: Path, region: str, left_out: str
) -> None:
    events = calls("barrier", same(4, 0, 0), region=region, is_region_only=True)
    traffic = read(tmp_path, 4, events, creator=SCORE_P)

    assert not traffic.collectives
    assert traffic.origin["left_out"].startswith(left_out)


@pytest.mark.parametrize("region", ["MPI_Send_init", "MPI_Dist_graph_neighbors", "MPI_Init", ""])
def test_other_functions_are_not_named(tmp_path: Path, region: str) -> None:
    events = calls("barrier", same(4, 0, 0), region=region, is_region_only=True)
    traffic = read(tmp_path, 4, events, creator=SCORE_P)

    assert "left_out" not in traffic.origin


def test_functions_are_known_where_score_p_unwinds_the_stack(tmp_path: Path) -> None:
    events = calls("alltoall", same(4, 20, 20), region=NEIGHBOR_ALLTOALL, is_unwound=True)
    traffic = read(tmp_path, 4, events, creator=SCORE_P_9)

    assert not traffic.collectives
    assert traffic.origin["left_out"] == (
        "4 calls of neighbor_alltoall, whose partners are unknown"
    )
