# SPDX-License-Identifier: Apache-2.0
"""Times collective calls where a program's ranks are placed: the MPI's own and those by schedules.

All algorithms of one call run in turns, so that varying load from elsewhere slows all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.act import mpi_builds
from fairlead.act.launch import (
    Conversation,
    Finished,
    Launcher,
    LaunchSpec,
    LaunchTimeoutError,
    environment_of_tools,
)
from fairlead.errors import ProbeError
from fairlead.files.scratch import scratch_folder
from fairlead.measure.probe_result import Documents, read_document
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.model.schedule import Schedule

__all__ = ["CollectiveTimes", "NativeAlgorithm", "TimedCall", "TuningProgram"]

_FORMAT = "fairlead-tuning"

MIN_ROUNDS = 9
"""Least rounds from which a 95 % interval can distinguish the best of nine algorithms from the
MPI's own: all pairs of times agree by chance in one of 256 cases."""

_START_S = 60.0
_LEAST_LIMIT_S = 30.0
_LEAST_TIMEOUT_S = 120.0
_GRACE_S = 10.0


@dataclasses.dataclass(frozen=True)
class TimedCall:
    """One collective call of some of a program's ranks.

    Attributes:
        operation: One of `fairlead.collectives.OPERATIONS`.
        message_bytes: Whole vector of bcast, reduce and allreduce, one rank's block of the others.
        ranks: World ranks of the communicator, in its order.
        root: In the communicator; 0 where the operation has none.
    """

    operation: str
    message_bytes: int
    ranks: tuple[int, ...]
    root: int = 0


@dataclasses.dataclass(frozen=True)
class NativeAlgorithm:
    """A choice among the MPI's own algorithms, and an order of the ranks.

    Attributes:
        settings: Control variables of the library (MPI_T), and what they are set to: a name of an
            algorithm, or a number.
        order: Old rank in the communicator at each new one; empty for the same order.
    """

    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    order: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class CollectiveTimes:
    """Times of one call by several algorithms.

    Attributes:
        is_right: Whether each algorithm is available and delivered what it has to, the MPI's own
            first.
        rounds_s: Seconds of one call, that of the slowest rank, shape (rounds,
            algorithms); `nan` where an algorithm was not timed: it was not right, or slower than
            another one in each of the first rounds.
    """

    is_right: Sequence[bool]
    rounds_s: npt.NDArray[np.float64]


class _Document(pydantic.BaseModel, extra="forbid"):
    """What the first rank of the communicator prints."""

    format: Literal["fairlead-tuning"]
    version: Literal[1]
    num_calls: Annotated[int, pydantic.Field(ge=1)]
    is_right: list[bool]
    rounds_s: list[list[Annotated[float, pydantic.Field(allow_inf_nan=False)]]]


class TuningProgram:
    """The program that times collectives, on a placement; leaving a `with` block ends it."""

    def __init__(
        self,
        launcher: Launcher,
        cluster: Cluster,
        placement: Placement,
        launcher_args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """It is started by the first call that is timed.

        Args:
            launcher: Starts it.
            cluster: The hosts.
            placement: Host of each of its ranks.
            launcher_args: The user's own arguments for the launcher.
            env: Variables that its ranks get.
        """
        self.launcher, self._files = launcher, contextlib.ExitStack()
        self.placement = placement
        self._spec = LaunchSpec(
            (str(mpi_builds.find(launcher).tune),),
            placement.num_ranks,
            cluster,
            placement,
            env={**mpi_builds.library_path(launcher), **(env or {})},
            launcher_args=tuple(launcher_args),
            is_tool=True,
        )
        self._conversation: Conversation | None = None

    def __enter__(self) -> TuningProgram:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def time(
        self,
        call: TimedCall,
        schedules: Sequence[Schedule],
        natives: Sequence[NativeAlgorithm] = (),
        *,
        time_s: float,
        min_rounds: int = MIN_ROUNDS,
        max_rounds: int = 30,
        drops_slower: bool = True,
        limit_s: float | None = None,
    ) -> CollectiveTimes:
        """Make one call by the MPI's own algorithm, by others of the MPI, and by the schedules.

        Args:
            call: What is called.
            schedules: For the hosts of the call's ranks, in ascending order of their position in
                the placement.
            natives: Choices among the MPI's own algorithms.
            time_s: After this time no further round begins beyond the least number.
            min_rounds: Least rounds.
            max_rounds: Most rounds.
            drops_slower: Whether an algorithm that was slower than the MPI's own, or than another
                one, in each of the first rounds is not timed any more.
            limit_s: After this time, that of the first call of each algorithm included, no further
                round begins, though there were fewer than the least number; None: twice `time_s`,
                or 30 s if that is longer. The program is ended when it takes far longer than that.

        Returns:
            The times; algorithms in the order: the MPI's own, `natives`, `schedules`.

        Raises:
            ProbeError: The program failed; what it said is in the message.
        """
        if limit_s is None:
            limit_s = max(_LEAST_LIMIT_S, 2 * time_s)
        hosts = self.placement.host_of_rank[list(call.ranks)]
        order = {
            "operation": call.operation,
            "message_bytes": call.message_bytes,
            "root": call.root,
            "ranks": list(call.ranks),
            "host_of_rank": np.unique(hosts, return_inverse=True)[1].tolist(),
            "natives": [
                {
                    "settings": [
                        {"variable": name, "value": value}
                        for name, value in algorithm.settings.items()
                    ],
                    "order": list(algorithm.order),
                }
                for algorithm in natives
            ],
            "schedules": [json.loads(schedule.to_json()) for schedule in schedules],
            "min_rounds": min_rounds,
            "max_rounds": max_rounds,
            "drops_slower": drops_slower,
            "time_s": time_s,
            "limit_s": limit_s,
        }
        finished = self._ask(
            json.dumps(order, separators=(",", ":")), max(_LEAST_TIMEOUT_S, 4 * limit_s)
        )
        document = read_document(finished.stdout, _FORMAT, _Document, "measurement")
        num_algorithms = 1 + len(natives) + len(schedules)
        if document is None or any(len(row) != num_algorithms for row in document.rounds_s):
            said = [line for line in finished.stderr.splitlines() if "fairlead-tune: error" in line]
            exit_code = f"exit code {finished.returncode}" if finished.returncode else "no error"
            details = said[0].partition("error ")[2] if said else exit_code
            raise ProbeError(f"the times of {call.operation} left no result: {details}")
        rounds_s = np.array(document.rounds_s, dtype=np.float64).reshape(-1, num_algorithms)
        return CollectiveTimes(document.is_right, np.where(rounds_s > 0, rounds_s, np.nan))

    def close(self) -> None:
        """End the program and wait until all of its processes have ended."""
        conversation, self._conversation = self._conversation, None
        with self._files:
            if conversation is not None:
                conversation.end(_GRACE_S)

    def _ask(self, line: str, timeout_s: float) -> Finished:
        if self._conversation is None:
            folder = self._files.enter_context(scratch_folder("fairlead-tune-"))
            command = self.launcher.prepare_command(self._spec, folder)
            self._conversation = Conversation(command, environment_of_tools())
            timeout_s += _START_S
        try:
            answer = self._conversation.ask(line, Documents((_FORMAT,)).is_last, timeout_s)
        except LaunchTimeoutError as error:
            answer = dataclasses.replace(error.finished, stderr=f"fairlead-tune: error {error}")
        if self._conversation.has_ended:
            self.close()
        return answer


def as_json(times: CollectiveTimes) -> dict[str, Any]:
    """The times as plain values, None where an algorithm was not timed."""
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in times.rounds_s]
    return {"is_right": list(times.is_right), "rounds_s": rows}
