# SPDX-License-Identifier: Apache-2.0
"""Rehearses transfers: the program's own messages, by the MPI alone and with relays, in turns.

The measuring program runs under the preload library, with the routers and the plan of a run, and
with as many processes on each host as the program has: so what is judged is what will run. Messages
by the MPI alone go past the library.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.act.launch import Launcher
from fairlead.errors import ProbeError
from fairlead.measure.long_trains import long_train_options
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.probe_result import PAIRS_FORMAT, read_document
from fairlead.measure.rehearsal import (
    REHEARSAL_FORMAT,
    RehearsalDocument,
    num_steps_of,
    part_of_step,
)
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.sparse_cells import cells
from fairlead.model.traffic import Traffic

__all__ = ["Combination", "large_messages", "rehearse_transfers", "step_messages"]

Matrix = npt.NDArray[np.float64]

LEAST_MESSAGE_BYTES = 1 << 18
"""Messages are not shortened below this: what routers add to the time of one must be as little of
it as it is of the whole message, and several segments take paths at the same time."""

LEAST_REHEARSAL_S = 0.6
MOST_REHEARSAL_S = 1.5
"""Time of the rounds; the first of them do not count."""

SHARE_OF_TIME = 0.25
"""Where there is much time, a rehearsal may take this part of it."""

START_S = 20.0
"""Guards against a start that hangs."""

MOST_MESSAGES = 8
"""Most of one pair of ranks in one step."""

WARM_UP_STEPS = 8
"""The rule "trials" compares ways at first, a few messages each. A program does that in its first
seconds, and a rehearsal before it counts."""

MOST_FLOWS = 20_000
"""Messages in the steps of all combinations; an order of more takes too long to send."""

_SCALING_STEPS = 1
"""Fewest steps of each pattern before the first round (mpi/probe/messages/rehearsal.cpp)."""

FEWEST_ROUNDS = 3
MOST_ROUNDS = 16


@dataclasses.dataclass(frozen=True)
class Combination:
    """One placement, and whether large messages may be relayed on it."""

    placement: Placement
    is_relayed: bool

    @property
    def key(self) -> tuple[tuple[str, ...], bool]:
        """The same for the same hosts of all ranks."""
        return tuple(self.placement.host_names()), self.is_relayed


@dataclasses.dataclass(frozen=True, eq=False)
class LargeMessages:
    """What ranks send one another in messages that may be relayed; one value for each pair.

    Attributes:
        src, dst: Ranks.
        bytes: Bytes in such messages, of the whole run.
        size_bytes: Size of one of them.
    """

    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]
    bytes: Matrix
    size_bytes: Matrix


def large_messages(traffic: Traffic, least_bytes: int) -> LargeMessages:
    """Messages that the program itself sends, of at least this size.

    Where those of a pair have this size in the mean, they are taken for as long as their mean.
    Where only the largest has it, all of the pair's bytes are taken to go in messages as long as
    that: of many short messages and a few long ones, the long ones carry most. What collectives
    send is not relayed.
    """
    sent = traffic.bytes.tocoo()
    counts = np.maximum(cells(traffic.messages, sent.row, sent.col), 1.0)
    mean_bytes = sent.data / counts
    assert traffic.max_message_bytes is not None
    # A traffic of another tool may have no largest messages.
    largest = np.maximum(cells(traffic.max_message_bytes, sent.row, sent.col), mean_bytes)
    size_bytes = np.where(mean_bytes >= least_bytes, mean_bytes, largest)
    is_large = (largest >= least_bytes) & (sent.row != sent.col)
    return LargeMessages(
        sent.row[is_large].astype(np.int64),
        sent.col[is_large].astype(np.int64),
        sent.data[is_large],
        size_bytes[is_large],
    )


def rehearse_transfers(
    combinations: Sequence[Combination],
    traffic: Traffic,
    network: Network,
    launcher: Launcher,
    cluster: Cluster,
    *,
    env: Mapping[str, str],
    least_bytes: int,
    left_s: float,
    launcher_args: Sequence[str] = (),
) -> Matrix:
    """Run the messages of several combinations between the hosts, in turns.

    Args:
        combinations: Placements on the hosts of the cluster, each with and without relays.
        traffic: What the ranks send one another.
        network: The measured network; bounds how much is sent in one step.
        launcher: Starts the measuring program.
        cluster: The hosts.
        env: Variables by which it loads the preload library and finds plan and routers.
        least_bytes: Messages of at least this size may be relayed.
        left_s: Time that is left for trials. After a part of it no further round begins, once there
            are three, and after all of it no further trial.
        launcher_args: The user's own arguments for the launcher.

    Returns:
        Seconds of one step, shape (rounds, combinations); the trials of one round ran right after
        one another.

    Raises:
        ProbeError: The measuring program failed, or there are too many messages.
        LaunchError: It cannot be started.
    """
    processes, process_of_rank = _processes([one.placement for one in combinations])
    part_ratio = part_of_step([one.placement for one in combinations], traffic, network)
    patterns = [
        step_messages(one, process_of, traffic, least_bytes, part_ratio)
        for one, process_of in zip(combinations, process_of_rank, strict=True)
    ]
    num_flows = sum(map(len, patterns))
    if num_flows > MOST_FLOWS:
        raise ProbeError(f"{num_flows:,} messages in a step, of which {MOST_FLOWS:,} are rehearsed")
    options = {
        **long_train_options(np.zeros((processes.num_ranks,) * 2, dtype=bool), 0.0),
        "rehearsal": {
            "patterns": patterns,
            "time_s": min(left_s, max(MOST_REHEARSAL_S, SHARE_OF_TIME * left_s)),
            "max_rounds": MOST_ROUNDS,
            "least_bytes": LEAST_MESSAGE_BYTES,
            "most_s": left_s,
        },
    }
    with ProbeProgram(launcher, launcher_args, processes=processes, env=env) as program:
        finished = program.order(
            cluster,
            options,
            timeout_s=START_S + left_s,
            formats=[PAIRS_FORMAT, REHEARSAL_FORMAT],
        )
    document = read_document(finished.stdout, REHEARSAL_FORMAT, RehearsalDocument, "rehearsal")
    if document is None or any(len(row) != len(combinations) for row in document.rounds_s):
        raise ProbeError("the rehearsal of transfers left no result")
    steps_s = np.array(document.rounds_s, dtype=np.float64).reshape(-1, len(combinations))
    return without_warm_up(steps_s / max(document.num_steps, 1), document.num_steps)


def without_warm_up(steps_s: Matrix, num_steps: int) -> Matrix:
    """The rounds after the first steps, and at least the last three.

    Args:
        steps_s: Seconds of a step, shape (rounds, combinations).
        num_steps: Steps of each trial; one more comes before each.
    """
    wanted = math.ceil((WARM_UP_STEPS - _SCALING_STEPS) / (num_steps + 1))
    return steps_s[max(0, min(wanted, len(steps_s) - FEWEST_ROUNDS)) :]


def step_messages(
    combination: Combination,
    process_of_rank: npt.NDArray[np.int64],
    traffic: Traffic,
    least_bytes: int,
    part_ratio: float,
) -> list[list[int]]:
    """One step's messages, each [src, dst, bytes], with a 1 at the end where it may be relayed.

    Args:
        combination: Where the ranks are, and whether messages may be relayed.
        process_of_rank: Process of the measuring program that stands for each rank.
        traffic: What the ranks send one another.
        least_bytes: Messages of at least this size may be relayed.
        part_ratio: Part of each message that is sent, unless that is less than
            `LEAST_MESSAGE_BYTES`.
    """
    steps, host_of_rank = num_steps_of(traffic), combination.placement.host_of_rank
    large = large_messages(traffic, least_bytes)
    messages: list[list[int]] = []

    def add(src: int, dst: int, size_bytes: float, count: int, *seen: int) -> None:
        if host_of_rank[src] != host_of_rank[dst]:
            size = max(size_bytes * part_ratio, min(size_bytes, LEAST_MESSAGE_BYTES), 1.0)
            ends = [int(process_of_rank[src]), int(process_of_rank[dst])]
            messages.extend([[*ends, round(size), *seen]] * count)

    seen = (1,) if combination.is_relayed else ()
    for src, dst, sent, size in zip(
        large.src, large.dst, large.bytes / steps, large.size_bytes, strict=True
    ):
        count = int(np.clip(round(sent / size), 1, MOST_MESSAGES))
        add(src, dst, sent / count, count, *seen)
    for src, dst, sent in _others(traffic, large):
        add(src, dst, sent / steps, 1)
    return messages


def _others(traffic: Traffic, large: LargeMessages) -> list[tuple[int, int, float]]:
    """What goes in short messages and in collectives: (src, dst, bytes)."""
    left = traffic.carried.bytes.tolil(copy=True)
    for src, dst, sent in zip(large.src, large.dst, large.bytes, strict=True):
        left[src, dst] = max(0.0, left[src, dst] - sent)
    rest = left.tocoo()
    return [
        (int(src), int(dst), float(sent))
        for src, dst, sent in zip(rest.row, rest.col, rest.data, strict=True)
        if sent > 0 and src != dst
    ]


def _processes(
    placements: Sequence[Placement],
) -> tuple[Placement, list[npt.NDArray[np.int64]]]:
    """As many on each host as any placement has ranks there; and which stands for each rank."""
    hosts = placements[0].hosts
    counts = [np.bincount(one.host_of_rank, minlength=len(hosts)) for one in placements]
    most = np.max(counts, axis=0)
    first_of_host = np.cumsum(most) - most
    process_of_rank = []
    for placement in placements:
        taken = first_of_host.copy()
        own = np.zeros(placement.num_ranks, dtype=np.int64)
        for rank, host in enumerate(placement.host_of_rank):
            own[rank] = taken[host]
            taken[host] += 1
        process_of_rank.append(own)
    return Placement(hosts, np.repeat(np.arange(len(hosts)), most), "probe"), process_of_rank
