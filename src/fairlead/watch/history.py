# SPDX-License-Identifier: Apache-2.0
"""The times of a program's runs by placement: predicted, measured, and which proved slower.

One small file for each program with its arguments, number of ranks and hosts.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import pydantic

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.run_directory import state_folder
from fairlead.model.placement import Placement
from fairlead.watch.collective_drift import DriftCounts

__all__ = ["History", "RunTime"]

MOST_RUNS = 200
"""Latest runs kept of one program, in addition to older ones that show what proved slower."""

MOST_REFERENCES = 9
"""Latest runs kept of what others are compared with; for the usual time."""

SLOWER_RATIO = 0.03
"""A placement has proved slower when its best run took longer than the launcher's best run by more
than this fraction and what disturbs the best run of a placement. The best runs are compared because
other load only adds time."""

DISTURBED_S = 0.5
"""Most time that starting and other load add to a run, where nothing is known of the program: start
times alone differ by that. Added times are taken as exponentially distributed, so that the best of
n runs has an n-th of it."""

FEWEST_FOR_SPREAD = 3
"""With this many runs of a placement, its own times tell how much is added."""

LEAST_DISTURBED_S = 0.05
"""A few runs may agree by chance. Twelve starts of four processes by Open MPI 4.1.4 on one busy
machine took 0.15 to 0.45 s, in the median 0.04 s more than the best."""

Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class RunTime(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One successful run of the program.

    Attributes:
        when: Its end, or that of tracing.
        folder: Its run directory.
        method: Method of its placement, "launcher" for the launcher's own.
        host_of_rank: Name of each rank's host; None for the launcher's own placement.
        seconds: From the start of the launcher to its end.
        predicted_s: Predicted time, or None without earlier runs.
        is_traced: Whether it was the traced run.
        is_tuned: Whether collectives followed schedules.
        drift: What was done where their times drifted; None where they were not watched.
    """

    when: pydantic.AwareDatetime
    folder: str
    method: str
    host_of_rank: tuple[str, ...] | None
    seconds: Seconds
    predicted_s: Seconds | None = None
    is_traced: bool = False
    is_tuned: bool = False
    drift: DriftCounts | None = None


class History(pydantic.BaseModel, extra="forbid"):
    """All kept runs of one program on one set of hosts, the oldest first."""

    kind: Literal["history"] = "history"
    version: Literal[1] = 1
    program: tuple[str, ...]
    num_ranks: int = pydantic.Field(ge=1)
    hosts: tuple[str, ...]
    runs: tuple[RunTime, ...] = ()

    def best_s(self, host_of_rank: Sequence[str] | None) -> float | None:
        """The shortest run on a placement, None for the launcher's own; or None without a run."""
        return min(self._times_s(host_of_rank), default=None)

    def launcher_s(self) -> float | None:
        """Usual time without Fairlead, in seconds: the median of the launcher's own placement."""
        return self.usual_s(None, is_tuned=False)

    def usual_s(self, host_of_rank: Sequence[str] | None, *, is_tuned: bool) -> float | None:
        """Median of the runs on a placement; None without a run."""
        times_s = self._times_s(host_of_rank, is_tuned=is_tuned)
        return statistics.median(times_s) if times_s else None

    def has_tuning_proved_slower(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether runs on this placement took longer with tuned collectives than without."""
        tuned_s = self._times_s(host_of_rank, is_tuned=True)
        others_s = self._times_s(host_of_rank, is_tuned=False)
        return bool(others_s) and _is_slower(tuned_s, min(others_s))

    def _times_s(
        self, host_of_rank: Sequence[str] | None, *, is_tuned: bool | None = None
    ) -> list[float]:
        """Times of runs on a placement, with or without tuned collectives; None: of all."""
        wanted = None if host_of_rank is None else tuple(host_of_rank)
        return [
            run.seconds
            for run in self.runs
            if run.host_of_rank == wanted and is_tuned in (None, run.is_tuned)
        ]

    def has_proved_slower(self, placement: Placement) -> bool:
        """Whether runs on this placement took longer than on the launcher's own."""
        return tuple(placement.host_names()) in self.dropped()

    def dropped(self) -> set[tuple[str, ...]]:
        """Placements that have proved slower, as the host of each rank."""
        launcher_s = self.best_s(None)
        if launcher_s is None:
            return set()
        placed = {run.host_of_rank for run in self.runs if run.host_of_rank is not None}
        return {names for names in placed if _is_slower(self._times_s(names), launcher_s)}

    def without_old_runs(self) -> History:
        """The latest runs, and older ones on which it depends what has proved slower."""
        first = len(self.runs) - MOST_RUNS
        decisive = self._decisive_runs() if first > 0 else set()
        runs = [one for i, one in enumerate(self.runs) if i >= first or i in decisive]
        return self.model_copy(update={"runs": tuple(runs)})

    def _decisive_runs(self) -> set[int]:
        """Positions of all runs of what has proved slower, and of some that it is compared with.

        What has proved slower is not used again, so its runs grow no more.
        """
        positions: dict[tuple[tuple[str, ...] | None, bool], list[int]] = {}
        for position, run in enumerate(self.runs):
            positions.setdefault((run.host_of_rank, run.is_tuned), []).append(position)
        dropped = self.dropped()
        decisive: set[int] = set()
        for (names, is_tuned), own in positions.items():
            is_tuning_slower = self.has_tuning_proved_slower(names)
            if names in dropped or (is_tuned and is_tuning_slower):
                decisive |= set(own)
            elif names is None or is_tuning_slower:
                fastest = min(reversed(own), key=lambda position: self.runs[position].seconds)
                decisive |= {fastest, *own[-MOST_REFERENCES:]}
        return decisive

    def save(self, path: Path) -> None:
        """Write the history; a reader never sees part of it.

        Raises:
            InputError: It cannot be written.
        """
        write_text(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> History:
        """Read a history.

        Raises:
            InputError: The file is missing, damaged or of another kind; the message names it.
        """
        return read_json(path, cls)


def _is_slower(times_s: Sequence[float], reference_s: float) -> bool:
    """Whether the best of some runs, if there are any, is slower beyond what disturbs it."""
    if not times_s:
        return False
    return min(times_s) > reference_s * (1 + SLOWER_RATIO) + _disturbed_s(times_s)


def _disturbed_s(times_s: Sequence[float]) -> float:
    """Time by which the best of some runs may exceed an undisturbed one, at 95 %.

    If exponentially distributed times of mean m are added, the best of n runs has more than 3 m / n
    of it in 5 % of all cases, and the median of three runs is m / 2 above the best one on average,
    of more runs at most 0.7 m (spacings of an exponential sample: Renyi 1953).
    """
    count = len(times_s)
    if count < FEWEST_FOR_SPREAD:
        return DISTURBED_S / count
    mean_s = 2 * (statistics.median(times_s) - min(times_s))
    return max(3 * mean_s / count, LEAST_DISTURBED_S)


def history_path(key: str) -> Path:
    """File of a program's history; `key` is that of `profile_cache.program_key`."""
    return state_folder() / "history" / f"{key}.json"


def recall(path: Path, empty: History) -> History:
    """The history in this file, or `empty`; an unreadable one is started anew."""
    try:
        return History.load(path)
    except InputError:
        return empty


def add(path: Path, empty: History, *runs: RunTime) -> History:
    """Add runs to the file at `path`, which other processes may do at the same time.

    Raises:
        InputError: It cannot be written.
    """
    with _locked(path):
        kept = recall(path, empty)
        grown = kept.model_copy(update={"runs": (*kept.runs, *runs)}).without_old_runs()
        grown.save(path)
    return grown


def now() -> datetime.datetime:
    """The current time in the form of a run's record."""
    return datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise InputError(f"{lock}: cannot be locked: {error.strerror}") from error
