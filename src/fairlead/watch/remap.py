# SPDX-License-Identifier: Apache-2.0
"""Remapping for programs in Python; `fairlead.h` has the same for C."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from fairlead.errors import Error, InputError
from fairlead.measure.oracle import ask_for_tasks

__all__ = ["Remapper"]

ORACLE_VARIABLE = "FAIRLEAD_ORACLE"
"""Environment variable: URL?metric=stalls&method=optimize&window_s=60."""

MOST_GAIN_RATIO = 0.5
MOST_FACTOR = 64

T = TypeVar("T")


class _Own(NamedTuple):
    """What a rank says of its task."""

    host: str
    task: int
    bytes_to: dict[int, float]
    move_bytes: float
    coordinates: list[float]

    @classmethod
    def of(
        cls,
        task: int,
        bytes_to: Mapping[int, float],
        move_bytes: float,
        coordinates: Sequence[float],
    ) -> _Own:
        """The same as Python's own numbers: NumPy's integers have no form in JSON."""
        return cls(
            os.uname().nodename.partition(".")[0],
            int(task),
            {int(to): float(size) for to, size in bytes_to.items()},
            float(move_bytes),
            [float(value) for value in coordinates],
        )


class Communicator(Protocol):
    """What is used of mpi4py's communicators."""

    def Get_rank(self) -> int: ...

    def gather(self, sendobj: Any, root: int = 0) -> Any: ...

    def bcast(self, obj: Any, root: int = 0) -> Any: ...


@dataclasses.dataclass
class Remapper:
    """Shares the tasks of a communicator out anew, again and again.

    Attributes:
        comm: Communicator of mpi4py; it is not changed.
        oracle: URL with options, read on rank 0; None: of the environment.
        least_gain_ratio: Least part of the time on the network that a move has to save. It doubles
            with each move and goes back by half with each call that keeps all, so that two
            placements do not take turns.
        ask: Asks an oracle; as `ask_for_tasks`.
    """

    comm: Communicator
    oracle: str | None = None
    least_gain_ratio: float = 0.1
    ask: Callable[[str, Mapping[str, str], Mapping[str, Any]], list[int]] = ask_for_tasks
    _factor: float = dataclasses.field(default=1.0, init=False)

    def __call__(
        self,
        task: int,
        bytes_to: Mapping[int, float],
        *,
        move_bytes: float = 0.0,
        repeats_left: float = 0.0,
        coordinates: Sequence[float] = (),
    ) -> int:
        """The next task of this process. Collective.

        Args:
            task: What it does now; at first its rank.
            bytes_to: Bytes that its task sends to others in one repeat, by task.
            move_bytes: Data of its task that a move has to send.
            repeats_left: How often the bytes will be sent from now on; 0: unknown.
            coordinates: Where its task is in the program's own space, such as the middle of its
                part of a grid, as many values on all ranks; only the method `geometric` uses them.

        Returns:
            The next task; the same as before on all ranks where no oracle answers, which rank 0
            reports on stderr.

        Raises:
            InputError: On all ranks: an argument of one is wrong.
        """
        own: _Own | str
        try:
            own = _Own.of(task, bytes_to, move_bytes, coordinates)
        except Exception as error:  # Whatever it is: the other ranks wait for this one.
            own = f"an argument is of a wrong type: {error}"
        gathered = self.comm.gather(own, root=0)
        answer: tuple[str, list[int]] | None = None
        if self.comm.Get_rank() == 0:
            answer = self._ask(gathered, repeats_left)
        problem, tasks = self.comm.bcast(answer, root=0)
        if problem:
            raise InputError(f"remap: {problem}")
        return int(tasks[self.comm.Get_rank()])

    def _ask(self, found: Sequence[_Own | str], repeats_left: float) -> tuple[str, list[int]]:
        """On rank 0: what is wrong with the arguments, and the tasks; all others wait for it."""
        gathered = [own for own in found if not isinstance(own, str)]
        if wrong := [own for own in found if isinstance(own, str)]:
            return wrong[0], []
        now = [own.task for own in gathered]
        sent = [(own.task, to, size) for own in gathered for to, size in own.bytes_to.items()]
        problem = _problem(now, sent, [own.move_bytes for own in gathered])
        problem = problem or _problem_of_coordinates([own.coordinates for own in gathered])
        if problem:
            return problem, now
        least = min(
            self.least_gain_ratio * self._factor, max(self.least_gain_ratio, MOST_GAIN_RATIO)
        )
        question = {
            "host_of_process": [own.host for own in gathered],
            "task_of_process": now,
            "sent": sent,
            "move_bytes_of_process": [own.move_bytes for own in gathered],
            "repeats_left": float(repeats_left),
            "least_gain_ratio": least,
        }
        if gathered[0].coordinates:
            by_task = sorted(gathered, key=lambda own: own.task)
            question["coordinates_of_task"] = [own.coordinates for own in by_task]
        try:
            source = self.oracle or os.environ.get(ORACLE_VARIABLE, "")
            if not source:
                raise Error(f"{ORACLE_VARIABLE} names no oracle")
            url, _, query = source.partition("?")
            then = self.ask(url, dict(urllib.parse.parse_qsl(query)), question)
        except Exception as error:  # Whatever an answer leads to: the other ranks wait.
            print(f"fairlead: {error}; all tasks stay", file=sys.stderr)
            return "", now
        has_moved = then != now
        self._factor = min(2 * self._factor, MOST_FACTOR) if has_moved else max(self._factor / 2, 1)
        return "", then


def _problem(
    now: Sequence[int], sent: Sequence[tuple[int, int, float]], sizes: Sequence[float]
) -> str:
    """What is wrong with the arguments of all ranks; empty where nothing is."""
    tasks = range(len(now))
    if sorted(now) != list(tasks):
        return f"expected each task of 0 to {len(now) - 1} on one rank, got {now}"
    for src, dst, size_bytes in sent:
        if dst not in tasks or not 0 <= size_bytes < float("inf"):
            return f"task {src} cannot send {size_bytes} bytes to task {dst}"
    wrong = [size for size in sizes if not 0 <= size < float("inf")]
    return f"move_bytes must be finite and >= 0, got {wrong[0]}" if wrong else ""


def _problem_of_coordinates(coordinates: Sequence[Sequence[float]]) -> str:
    """What is wrong with the coordinates of all ranks; empty where nothing is."""
    numbers = sorted({len(own) for own in coordinates})
    if len(numbers) > 1:
        return f"coordinates: expected as many on all ranks, got {numbers[0]} and {numbers[-1]}"
    wrong = [value for own in coordinates for value in own if not math.isfinite(value)]
    return f"coordinates: each must be finite, got {wrong[0]}" if wrong else ""
