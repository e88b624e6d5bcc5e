# SPDX-License-Identifier: Apache-2.0
"""Rehearses placements: sends their traffic, scaled down and in turns, over the real network.

A model of pairs does not include shared links, switches that drop packets, or other load. In a
rehearsal the messages of each placement cross the network together, as those of the program will.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.errors import ProbeError
from fairlead.measure.long_trains import long_train_options
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.probe_result import PAIRS_FORMAT, read_document
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = [
    "REHEARSAL_FORMAT",
    "Rehearsal",
    "RehearsalDocument",
    "host_bytes",
    "num_steps_of",
    "part_of_step",
    "rehearse",
]

Matrix = npt.NDArray[np.float64]

REHEARSAL_FORMAT = "fairlead-rehearsal"

MOST_STEP_S = 0.02
"""Most time of the busiest host's messages in one step, by the measured network: a trial of 0.08 s
must contain several steps."""

MOST_STEP_BYTES = 256 << 20
"""Most bytes of a host in one step, whatever rates were measured: it has room for all of them."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rehearsal:
    """Times of each placement's traffic on the network.

    Attributes:
        steps_s: Seconds of one step of the program, shape (rounds, placements); the trials of
            one round ran right after one another.
        num_steps: Steps of the whole program, by its trace.
    """

    steps_s: Matrix
    num_steps: float

    @property
    def num_rounds(self) -> int:
        """Number of complete rounds."""
        return len(self.steps_s)

    def network_s(self, placement: int) -> float:
        """Time of the whole program's traffic with this placement, the median of all rounds."""
        return float(np.median(self.steps_s[:, placement])) * self.num_steps


class RehearsalDocument(pydantic.BaseModel, extra="forbid"):
    """What rank 0 prints."""

    format: Literal["fairlead-rehearsal"]
    version: Literal[1]
    num_steps: Annotated[int, pydantic.Field(ge=0)]
    size_ratio: Annotated[float, pydantic.Field(gt=0, le=1)]
    mpi_bytes: Annotated[int, pydantic.Field(ge=0)] = 0
    tcp_bytes: Annotated[int, pydantic.Field(ge=0)] = 0
    rounds_s: list[list[Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]]]


def rehearse(
    placements: Sequence[Placement],
    traffic: Traffic,
    network: Network,
    program: ProbeProgram,
    cluster: Cluster,
    *,
    rehearsal_s: float,
    max_rounds: int = 12,
    silence_timeout_s: float = 10.0,
) -> Rehearsal:
    """Run the traffic of several placements between the hosts, in turns.

    Args:
        placements: On the hosts of the cluster.
        traffic: What the ranks send one another.
        network: The measured network; bounds how much is sent in one step.
        program: Gets the order.
        cluster: The hosts.
        rehearsal_s: When no further round begins.
        max_rounds: Most rounds.
        silence_timeout_s: Silence after which a host is given up.

    Returns:
        What was found.

    Raises:
        ProbeError: The measuring program failed.
    """
    steps = num_steps_of(traffic)
    patterns = [host_bytes(one, traffic, cluster.hosts) / steps for one in placements]
    part_ratio = part_of_step(placements, traffic, network)
    none = np.zeros((cluster.num_hosts, cluster.num_hosts), dtype=bool)
    options = {
        **long_train_options(none, 0.0),
        "silence_timeout_s": silence_timeout_s,
        "rehearsal": {
            "patterns": [_messages(one * part_ratio) for one in patterns],
            "time_s": rehearsal_s,
            "max_rounds": max_rounds,
        },
    }
    finished = program.order(
        cluster,
        options,
        timeout_s=60 + rehearsal_s,
        formats=[PAIRS_FORMAT, REHEARSAL_FORMAT],
    )
    document = read_document(finished.stdout, REHEARSAL_FORMAT, RehearsalDocument, "rehearsal")
    if document is None or any(len(row) != len(placements) for row in document.rounds_s):
        raise ProbeError("the rehearsal of placements left no result")
    trials_s = np.array(document.rounds_s, dtype=np.float64).reshape(-1, len(placements))
    return Rehearsal(
        steps_s=trials_s / max(document.num_steps, 1) / document.size_ratio,
        num_steps=steps / part_ratio,
    )


def part_of_step(placements: Sequence[Placement], traffic: Traffic, network: Network) -> float:
    """Part of each message that is sent, so that no step takes too long by the measured rates."""
    steps = num_steps_of(traffic)
    patterns = [host_bytes(one, traffic, network.hosts) / steps for one in placements]
    return min(
        1.0,
        MOST_STEP_S / max(_busiest_s(one, network) for one in patterns),
        MOST_STEP_BYTES / max(1.0, *(_busiest_bytes(one) for one in patterns)),
    )


def num_steps_of(traffic: Traffic) -> float:
    """How many messages of the usual size one rank sends another at most: about the iterations.

    Where there are long messages, short ones do not count: spread over as many steps, the long ones
    would be short as well, and no network limits a row of short messages with pauses.
    """
    sent, usual_bytes = traffic.carried.bytes, traffic.usual_message_bytes
    return float(max(1.0, sent.max() / max(1.0, usual_bytes))) if sent.nnz else 1.0


def host_bytes(placement: Placement, traffic: Traffic, hosts: Sequence[str]) -> Matrix:
    """Bytes between these hosts, shape (H, H), [src, dst], diagonal 0."""
    sent = traffic.carried.bytes.tocoo()
    return bytes_between_hosts(placement, hosts, sent.row, sent.col, sent.data)


def bytes_between_hosts(
    placement: Placement,
    hosts: Sequence[str],
    src: npt.NDArray[np.integer],
    dst: npt.NDArray[np.integer],
    sent_bytes: npt.NDArray[np.float64],
) -> Matrix:
    """Bytes between these hosts of what pairs of ranks send, shape (H, H), [src, dst], diagonal 0.

    Args:
        placement: A host for each rank.
        hosts: Hosts of rows and columns.
        src: Sending rank of each pair.
        dst: Receiving rank of each pair.
        sent_bytes: What the pair sends.
    """
    position = {host: index for index, host in enumerate(hosts)}
    host_of_rank = np.array([position[name] for name in placement.host_names()])
    between = np.zeros((len(hosts), len(hosts)))
    np.add.at(between, (host_of_rank[src], host_of_rank[dst]), sent_bytes)
    np.fill_diagonal(between, 0.0)
    return between


def _busiest_bytes(sent_bytes: Matrix) -> float:
    """What the busiest host sends or receives."""
    return float(max(sent_bytes.sum(axis=0).max(), sent_bytes.sum(axis=1).max()))


def _busiest_s(sent_bytes: Matrix, network: Network) -> float:
    """Time of the busiest host's messages one after the other, out or in."""
    with np.errstate(invalid="ignore"):
        pair_s = np.where(sent_bytes > 0, sent_bytes / network.bandwidth_Bps, 0.0)
    pair_s = np.nan_to_num(pair_s, nan=0.0)
    return max(1e-9, float(pair_s.sum(axis=0).max()), float(pair_s.sum(axis=1).max()))


def _messages(sent_bytes: Matrix) -> list[list[int]]:
    """One step's messages, each [src, dst, bytes] (mpi/probe/messages/pattern.hpp)."""
    return [
        [int(src), int(dst), max(1, round(sent_bytes[src, dst]))]
        for src, dst in zip(*np.nonzero(sent_bytes), strict=True)
    ]
