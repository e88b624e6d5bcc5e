# SPDX-License-Identifier: Apache-2.0
"""Tuning files of MPIs, followed as the MPIs follow them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.act.tuning_files import TUNING_FILES, NativeRule
from fairlead.act.tuning_files.mpich import MpichSelection
from fairlead.decide.collectives.choosing import size_ranges

OMPI = TUNING_FILES["ompi"]
NOWHERE = Path("/nowhere")


def algorithm_by_open_mpi(text: str, collective: int, num_ranks: int, size: int) -> list[int]:
    """As coll_tuned_dynamic_rules.c: the last size of both kinds that is not larger decides."""
    words = (word for line in text.splitlines() for word in line.partition("#")[0].split())
    numbers = map(int, words)
    found = [0, 0, 0]
    for _ in range(next(numbers)):
        is_it = next(numbers) == collective
        for _ in range(next(numbers)):
            is_for = next(numbers) <= num_ranks and is_it
            rules = [[next(numbers) for _ in range(4)] for _ in range(next(numbers))]
            if is_for:
                found = [0, 0, 0]
                for first, *what in rules:
                    if first <= size:
                        found = what
    assert next(numbers, None) is None
    return found


RULES = [
    NativeRule("allgather", "ring", 1024, 4095),
    NativeRule("bcast", "pipeline/65536", 4096, 8191),
    NativeRule("bcast", "binomial", 8192, 16383),
]


@pytest.mark.parametrize(
    ("num_ranks", "size", "expected"),
    [
        *((16, 4095, [0, 0, 0]), (16, 4096, [3, 0, 65536]), (16, 8191, [3, 0, 65536])),
        *((16, 8192, [6, 0, 0]), (16, 16384, [0, 0, 0])),
        *((15, 5000, [0, 0, 0]), (17, 5000, [0, 0, 0])),
    ],
)
def test_open_mpi_takes_the_algorithm_for_its_sizes_only(
    num_ranks: int, size: int, expected: list[int]
) -> None:
    text = OMPI.render(RULES, 16, NOWHERE)

    assert algorithm_by_open_mpi(text, 7, num_ranks, size) == expected


def test_open_mpi_goes_by_the_bytes_of_all_ranks_in_an_allgather() -> None:
    text = OMPI.render(RULES, 16, NOWHERE)

    assert algorithm_by_open_mpi(text, 0, 16, 16 * 1024) == [4, 0, 0]
    assert algorithm_by_open_mpi(text, 0, 16, 16 * 1024 - 1) == [0, 0, 0]
    assert algorithm_by_open_mpi(text, 0, 16, 16 * 4096) == [0, 0, 0]


def test_chains_are_as_many_by_a_rule_as_by_their_name() -> None:
    # Open MPI 4.1.4: coll_tuned_bcast_algorithm_chain_fanout is 4 where nobody sets it.
    text = OMPI.render([NativeRule("bcast", "chain/65536", 4096, 8191)], 16, NOWHERE)

    assert algorithm_by_open_mpi(text, 7, 16, 4096) == [2, 4, 65536]


def test_no_rule_is_a_file_without_collectives() -> None:
    assert OMPI.render([], 16, NOWHERE) == "0 # number of collectives\n"


def test_algorithms_that_need_an_even_number_or_a_power_of_2_are_left_out() -> None:
    assert "neighbor" in OMPI.algorithms("allgather", 6, 4096)
    assert "neighbor" not in OMPI.algorithms("allgather", 7, 4096)
    assert "recursive_doubling" not in OMPI.algorithms("allgather", 6, 4096)
    assert "recursive_doubling" in MPICH.algorithms("allgather", 8, 4096)
    assert "recursive_doubling" not in MPICH.algorithms("allgather", 6, 4096)
    assert MPICH.algorithms("gather", 8, 4096) == []


def test_pipeline_is_cut_into_segments_where_the_message_is_longer() -> None:
    assert "pipeline" in OMPI.algorithms("bcast", 8, 65536)
    assert "pipeline/65536" in OMPI.algorithms("bcast", 8, 65537)
    assert OMPI.settings("bcast", "pipeline/65536") == {
        "coll_tuned_bcast_algorithm": "pipeline",
        "coll_tuned_bcast_algorithm_segmentsize": "65536",
    }


OWN: dict[str, Any] = {
    f"collective={name}": {
        "comm_type=intra": {
            "avg_msg_size<=100": {"algorithm=MPIR_own_short": {}},
            "avg_msg_size=any": {"algorithm=MPIR_own_long": {}},
        },
        "comm_type=inter": {"algorithm=MPIR_own_inter": {}},
    }
    for name in ("bcast", "reduce", "scan")
}


def algorithm_by_mpich(selection: dict[str, Any], call: dict[str, Any]) -> str:
    """As csel.c: the first condition that is true decides, and there is no way back."""
    for condition, inner in selection.items():
        if condition.startswith("algorithm="):
            return condition.removeprefix("algorithm=")
        if holds(condition, call):
            return algorithm_by_mpich(inner, call)
    raise AssertionError("MPICH would end here")


def holds(condition: str, call: dict[str, Any]) -> bool:
    if condition.endswith("=any"):
        return True
    if condition == "comm_size=pow2":
        return int(call["comm_size"]).bit_count() == 1
    if condition == "count<pow2":
        return bool(call["count"] < 1 << (int(call["comm_size"]).bit_length() - 1))
    for sign in ("<=", "<"):
        name, found, value = condition.partition(sign)
        if found:
            return bool(call[name] < int(value) + (sign == "<="))
    name, _, value = condition.partition("=")
    return bool(call[name] == value)


def call(operation: str, size: int, **more: Any) -> dict[str, Any]:
    usual = {"comm_type": "intra", "comm_size": 16, "count": size // 4, "is_op_built_in": "yes"}
    return {**usual, "collective": operation, "avg_msg_size": size, **more}


MPICH = MpichSelection(own_selection=lambda _program: json.loads(json.dumps(OWN)))


def test_mpich_takes_the_algorithm_for_its_sizes_only() -> None:
    rules = [NativeRule("bcast", "binomial", 64, 127), NativeRule("bcast", "binomial", 256, 511)]
    selection = json.loads(MPICH.render(rules, 16, NOWHERE))

    by_size = {
        size: algorithm_by_mpich(selection, call("bcast", size))
        for size in (0, 63, 64, 127, 128, 255, 256, 511, 512)
    }

    assert by_size == {
        **{0: "MPIR_own_short", 63: "MPIR_own_short"},
        **{64: "MPIR_Bcast_intra_binomial", 127: "MPIR_Bcast_intra_binomial"},
        **{128: "MPIR_own_long", 255: "MPIR_own_long"},
        **{256: "MPIR_Bcast_intra_binomial", 511: "MPIR_Bcast_intra_binomial"},
        512: "MPIR_own_long",
    }


def test_mpich_decides_itself_where_an_algorithm_does_not_work() -> None:
    rules = [
        NativeRule("reduce", "reduce_scatter_gather", 0, 4095),
        NativeRule("bcast", "scatter_recursive_doubling_allgather", 0, 4095),
    ]
    selection = json.loads(MPICH.render(rules, 16, NOWHERE))

    def taken(*arguments: Any, **more: Any) -> str:
        return algorithm_by_mpich(selection, call(*arguments, **more)).removeprefix("MPIR_")

    assert taken("reduce", 400) == "Reduce_intra_reduce_scatter_gather"
    assert taken("reduce", 400, is_op_built_in="no") == "own_long"
    assert taken("reduce", 400, count=15) == "own_long"
    assert taken("bcast", 400) == "Bcast_intra_scatter_recursive_doubling_allgather"
    assert taken("bcast", 400, comm_size=12) == "own_long"
    assert taken("bcast", 400, comm_type="inter") == "own_inter"


def test_collectives_without_a_rule_stay() -> None:
    selection = json.loads(MPICH.render([NativeRule("bcast", "binomial", 64, 127)], 16, NOWHERE))

    assert {name: selection[name] for name in selection if name != "collective=bcast"} == {
        name: OWN[name] for name in OWN if name != "collective=bcast"
    }


@given(
    st.lists(st.integers(1, 1 << 20), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(0, 1 << 21),
)
def test_both_files_say_the_same(sizes: list[int], size: int) -> None:
    ranges = size_ranges(sizes)
    rules = [NativeRule("bcast", "binomial", low, high) for low, high in ranges]
    is_covered = any(low <= size <= high for low, high in ranges)

    selection = json.loads(MPICH.render(rules, 16, NOWHERE))
    by_mpich = algorithm_by_mpich(selection, call("bcast", size))
    by_open_mpi = algorithm_by_open_mpi(OMPI.render(rules, 16, NOWHERE), 7, 16, size)

    assert (by_mpich == "MPIR_Bcast_intra_binomial") == is_covered
    assert (by_open_mpi == [6, 0, 0]) == is_covered
