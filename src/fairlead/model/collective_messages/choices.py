# SPDX-License-Identifier: Apache-2.0
"""Which algorithm an MPI library chooses for a call.

Source: for MPICH Thakur, Rabenseifner and Gropp 2005, whose limits are its defaults; for Open MPI
what the algorithms were recognised by in its own counts of messages
(bench/trace/open_mpi_choices.py).
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping

from fairlead.files.package_folders import data_folder
from fairlead.model.collective_messages.algorithms import ALGORITHMS, Algorithm, Call
from fairlead.model.collective_messages.steps import num_swapping

__all__ = ["OPEN_MPI_FILE", "algorithm_of", "algorithms_for", "blocking_name"]

OPEN_MPI_FILE = data_folder("model/collective_messages") / "open_mpi.csv"
"""Choices of version 4.1.4: from how many ranks and bytes on an operation takes which algorithm."""

FEW_RANKS = 8
MANY_RANKS = 1024
SHORT_REDUCTION_BYTES = 2 << 10
SHORT_BROADCAST_BYTES = 12 << 10
SHORT_ALLGATHER_BYTES = 80 << 10
LONG_BYTES = 512 << 10
NUMBER_BYTES = 8

_LIKE = {
    "allgatherv": "allgather",
    "exscan": "scan",
    "gatherv": "gather",
    "reduce_scatter_block": "reduce_scatter",
    "scatterv": "scatter",
}
"""Operations that send messages like another one."""

_ROOT_KNOWS_SIZES = frozenset({"gatherv", "scatterv"})


def algorithm_of(operation: str, call: Call, mpi: object = None) -> Algorithm | None:
    """The algorithm that is expected of a call; None where its messages are no algorithm's matter.

    Args:
        operation: MPI name in lower case without prefix.
        call: Its size, ranks and root.
        mpi: What the MPI calls itself.
    """
    name = blocking_name(operation)
    algorithms = algorithms_for(name)
    if not algorithms:
        return None
    if name in _ROOT_KNOWS_SIZES:
        return algorithms["star"]
    if str(mpi).startswith("Open MPI"):
        chosen = _of_open_mpi(name, call)
        if chosen is not None:
            return algorithms[chosen]
    return algorithms[_OF_MPICH[_LIKE.get(name, name)](call)]


def algorithms_for(name: str) -> Mapping[str, Algorithm]:
    """Algorithms of a blocking operation by name; none of an exchange."""
    return ALGORITHMS.get(_LIKE.get(name, name), {})


def blocking_name(operation: str) -> str:
    """The operation's name without what makes it nonblocking or persistent."""
    name = operation.removesuffix("_init")
    return name[1:] if name.startswith("i") else name


def _of_open_mpi(name: str, call: Call) -> str | None:
    choices = _open_mpi_choices()
    by_ranks = choices.get(name) or choices.get(_LIKE.get(name, name))
    if by_ranks is None:
        return None
    measured = [num_ranks for num_ranks in by_ranks if num_ranks <= call.num_ranks]
    by_bytes = by_ranks[max(measured, default=min(by_ranks))]
    return next(chosen for least, chosen in reversed(by_bytes) if least <= call.bytes)


@functools.cache
def _open_mpi_choices() -> Mapping[str, Mapping[int, list[tuple[int, str]]]]:
    """By operation and number of ranks the least bytes of each algorithm, ascending."""
    choices: dict[str, dict[int, list[tuple[int, str]]]] = {}
    with OPEN_MPI_FILE.open(newline="") as stream:
        for row in csv.DictReader(stream):
            by_bytes = choices.setdefault(row["operation"], {}).setdefault(
                int(row["num_ranks"]), []
            )
            by_bytes.append((int(row["least_bytes"]), row["algorithm"]))
    return choices


def _allgather(call: Call) -> str:
    all_bytes = call.whole().bytes
    if call.is_power_of_two and all_bytes < LONG_BYTES:
        return "doubling"
    return "bruck" if all_bytes < SHORT_ALLGATHER_BYTES else "ring"


def _bcast(call: Call) -> str:
    if call.bytes < SHORT_BROADCAST_BYTES or call.num_ranks < FEW_RANKS:
        return "binomial"
    is_middle = call.is_power_of_two and call.bytes < LONG_BYTES
    return "scatter and allgather" if is_middle else "scatter and ring"


def _reduce_scatter(call: Call) -> str:
    if call.bytes < LONG_BYTES:
        return "halving"
    # All pairs of very many ranks would not fit into the memory; a ring sends as much.
    return "pairwise" if call.num_ranks <= MANY_RANKS else "ring"


def _reduction(short: str) -> Callable[[Call], str]:
    def chosen(call: Call) -> str:
        # Each rank that halves needs a number of the vector.
        least_bytes = NUMBER_BYTES * num_swapping(call.num_ranks)
        return short if call.bytes <= max(SHORT_REDUCTION_BYTES, least_bytes) else "halving"

    return chosen


_OF_MPICH: Mapping[str, Callable[[Call], str]] = {
    "allgather": _allgather,
    "allreduce": _reduction("doubling"),
    "barrier": lambda _call: "dissemination",
    "bcast": _bcast,
    "gather": lambda _call: "binomial",
    "reduce": _reduction("binomial"),
    "reduce_scatter": _reduce_scatter,
    "scan": lambda _call: "doubling",
    "scatter": lambda _call: "binomial",
}
