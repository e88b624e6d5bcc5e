# SPDX-License-Identifier: Apache-2.0
"""Rehearses the places of ranks inside hosts: the program's messages between bound processes.

One process runs on each place. Which of them stands for a rank is exchanged between two trials, so
that both orders of ranks are tried in turns by the same processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.act.launch import Launcher, RankCpus
from fairlead.errors import ProbeError
from fairlead.measure.long_trains import long_train_options
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.probe_result import PAIRS_FORMAT, read_document
from fairlead.measure.rehearsal import (
    MOST_STEP_BYTES,
    REHEARSAL_FORMAT,
    RehearsalDocument,
    num_steps_of,
)
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["MOST_MESSAGES", "place_of_ranks", "rehearse_places"]

MOST_MESSAGES = 20_000
"""In the steps of both orders; an order of more takes too long to send."""

MOST_ROUNDS = 12
START_S = 20.0
"""Guards against a start that hangs."""

Ints = npt.NDArray[np.int64]


def rehearse_places(
    placement: Placement,
    usual: RankCpus,
    lists: Sequence[str],
    traffic: Traffic,
    *,
    launcher: Launcher,
    cluster: Cluster,
    rehearsal_s: float,
    launcher_args: Sequence[str] = (),
) -> npt.NDArray[np.float64]:
    """Run the messages with the launcher's places and with chosen ones, in turns.

    Args:
        placement: A host for each rank.
        usual: CPUs of each rank by the launcher; the processes have them.
        lists: CPUs of each rank by the choice: on each host the same lists in another order.
        traffic: What the ranks send one another.
        launcher: Starts the measuring program.
        cluster: The hosts.
        rehearsal_s: When no further round begins.
        launcher_args: The user's own arguments for the launcher.

    Returns:
        Seconds of one step, shape (rounds, 2): with the launcher's places, with the chosen ones.

    Raises:
        ProbeError: The measuring program failed, or there are too many messages.
        LaunchError: It cannot be started.
    """
    orders = [np.arange(placement.num_ranks), place_of_ranks(placement, usual.lists, lists)]
    patterns = [_messages(traffic, order) for order in orders]
    if (count := sum(map(len, patterns))) > MOST_MESSAGES:
        raise ProbeError(f"{count:,} messages in a step, of which {MOST_MESSAGES:,} are rehearsed")
    nothing = np.zeros((placement.num_ranks,) * 2, dtype=bool)
    options: Mapping[str, object] = {
        **long_train_options(nothing, 0.0),
        "rehearsal": {"patterns": patterns, "time_s": rehearsal_s, "max_rounds": MOST_ROUNDS},
    }
    with ProbeProgram(launcher, launcher_args, processes=placement, cpus=usual) as program:
        finished = program.order(
            cluster,
            options,
            timeout_s=START_S + 10 * rehearsal_s,
            formats=[PAIRS_FORMAT, REHEARSAL_FORMAT],
        )
    document = read_document(finished.stdout, REHEARSAL_FORMAT, RehearsalDocument, "rehearsal")
    if document is None or not document.rounds_s or any(len(row) != 2 for row in document.rounds_s):
        raise ProbeError("the rehearsal of places inside hosts left no result")
    return np.array(document.rounds_s, dtype=np.float64) / max(document.num_steps, 1)


def place_of_ranks(placement: Placement, usual: Sequence[str], lists: Sequence[str]) -> Ints:
    """The rank of its host that has, by the launcher, the CPUs that each rank is to have.

    Returns:
        Shape (T,): a permutation of the ranks that keeps each on its host.

    Raises:
        ProbeError: A rank is to have CPUs that no rank of its host has by the launcher.
    """
    left: dict[tuple[int, str], list[int]] = {}
    for rank in range(placement.num_ranks - 1, -1, -1):
        left.setdefault((int(placement.host_of_rank[rank]), usual[rank]), []).append(rank)
    try:
        return np.array(
            [
                left[int(placement.host_of_rank[rank]), lists[rank]].pop()
                for rank in range(placement.num_ranks)
            ]
        )
    except (KeyError, IndexError) as error:
        raise ProbeError("only the launcher's own CPUs of a host can be rehearsed") from error


def _messages(traffic: Traffic, process_of_rank: Ints) -> list[list[int]]:
    """One step's messages, each [src, dst, bytes] (mpi/probe/messages/pattern.hpp)."""
    sent = traffic.carried.bytes.tocoo()
    step_bytes = sent.data / num_steps_of(traffic)
    total = np.bincount(sent.row, weights=step_bytes, minlength=traffic.num_ranks).max(initial=0.0)
    part_ratio = min(1.0, MOST_STEP_BYTES / max(total, 1.0) / traffic.num_ranks)
    return [
        [int(process_of_rank[src]), int(process_of_rank[dst]), max(1, round(number * part_ratio))]
        for src, dst, number in zip(sent.row, sent.col, step_bytes, strict=True)
        if src != dst and number > 0
    ]
