# SPDX-License-Identifier: Apache-2.0
"""The times of a program's runs by placement: predicted, measured, and which proved slower."""

from __future__ import annotations

import datetime
import itertools
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pydantic

from fairlead.decide.rank_sum import rank_sum_risk
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.system_text import SystemText
from fairlead.watch.collective_drift import DriftCounts
from fairlead.watch.run_comparison import MOST_COMPARED, RISK, RunComparison

__all__ = ["History", "Retry", "RunTime", "now"]

MOST_RUNS = 200
"""Latest runs kept of one program, in addition to older ones that show what proved slower."""

LOAD_RATIO = 0.1
"""The load has changed where the launcher's runs differ by more than this, and beyond the risk."""

MOST_AFTER = 3
"""Runs of the launcher after the last run of a dropped placement that count as of the same time."""

Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class RunTime(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One successful run of the program.

    Attributes:
        when: Its end, or that of tracing.
        folder: Its run folder.
        method: Method of its placement, "launcher" for the launcher's own.
        host_of_rank: Name of each rank's host; None for the launcher's own placement.
        seconds: From the start of the launcher to its end.
        predicted_s: Predicted time, or None without earlier runs.
        is_traced: Whether it was the traced run.
        is_tuned: Whether collectives followed schedules.
        is_relayed: Whether large messages could be relayed.
        is_inside: Whether ranks had other CPUs of the launcher's.
        drift: What was done where their times drifted; None where they were not watched.
        guessed_from: Arguments of the input for whose traffic this one's was taken; None where it
            was known.
        is_shared: Whether another run of this user had some of the hosts at the same time.
        difference: Between the traffic by which it was placed and its own: 0 alike, 1 disjoint;
            None where its own was not seen.
    """

    when: pydantic.AwareDatetime
    folder: SystemText
    method: str
    host_of_rank: tuple[str, ...] | None
    seconds: Seconds
    predicted_s: Seconds | None = None
    is_traced: bool = False
    is_tuned: bool = False
    is_relayed: bool = False
    is_inside: bool = False
    drift: DriftCounts | None = None
    guessed_from: tuple[SystemText, ...] | None = None
    is_shared: bool = False
    difference: Annotated[float, pydantic.Field(ge=0, le=1)] | None = None


class Retry(pydantic.BaseModel, frozen=True, extra="forbid"):
    """From when on a placement that had proved slower may be used again.

    Attributes:
        host_of_rank: The placement; None for the launcher's own, where another lever was dropped.
        when: Runs up to then do not count any more.
        why: What has changed.
    """

    host_of_rank: tuple[str, ...] | None
    when: pydantic.AwareDatetime
    why: str


class _Kind(NamedTuple):
    """Runs that are compared; None for both values of a lever."""

    host_of_rank: tuple[str, ...] | None
    is_tuned: bool | None
    is_relayed: bool | None
    is_inside: bool | None = False

    def includes(self, run: RunTime) -> bool:
        """Whether the run is one of them."""
        return (
            run.host_of_rank == self.host_of_rank
            and self.is_tuned in (None, run.is_tuned)
            and self.is_relayed in (None, run.is_relayed)
            and self.is_inside in (None, run.is_inside)
        )


_LAUNCHERS = _Kind(None, None, False)


def _alike(kind: _Kind) -> list[_Kind]:
    """The same runs, divided by the state of each lever that may have either."""
    states = [(False, True) if state is None else (state,) for state in kind[1:]]
    return [_Kind(kind.host_of_rank, *state) for state in itertools.product(*states)]


class History(pydantic.BaseModel, extra="forbid"):
    """All kept runs of one program on one set of hosts, the oldest first."""

    kind: Literal["history"] = "history"
    version: Literal[1, 2] = 2
    program: tuple[SystemText, ...]
    num_ranks: int = pydantic.Field(ge=1)
    hosts: tuple[str, ...]
    runs: tuple[RunTime, ...] = ()
    retries: tuple[Retry, ...] = ()
    merged: tuple[str, ...] = ()

    def launcher_s(self) -> float | None:
        """Usual time without Fairlead, in seconds: the median of the launcher's own placement."""
        return self.usual_s(None, is_tuned=False)

    def usual_s(
        self,
        host_of_rank: Sequence[str] | None,
        *,
        is_tuned: bool,
        is_relayed: bool = False,
        is_inside: bool = False,
    ) -> float | None:
        """Median of the runs with this combination of placement and levers; None without one."""
        times_s = self._times_s(_Kind(_names(host_of_rank), is_tuned, is_relayed, is_inside))
        return statistics.median(times_s) if times_s else None

    def is_tuning_dropped(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether runs on this placement took longer with tuned collectives than without."""
        return any(
            self.compare_tuning(host_of_rank, is_relayed=is_relayed).is_slower
            for is_relayed in (False, True)
        )

    def is_relaying_dropped(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether runs with relays on this placement took longer than without."""
        return self.compare_relays(host_of_rank).is_slower

    def is_inside_dropped(self, host_of_rank: Sequence[str] | None) -> bool:
        """Whether runs on this placement took longer with other CPUs of the launcher's."""
        return self.compare_inside(host_of_rank).is_slower

    def compare_placement(self, host_of_rank: Sequence[str]) -> RunComparison:
        """The runs on a placement against those on the launcher's, both without relays.

        As long as the launcher's has run with relays only, as a first run may have, against these.
        """
        names = _names(host_of_rank)
        references = self._those_with_runs([_LAUNCHERS], _Kind(None, None, True))
        return self._compare_alike(_Kind(names, None, False), references)

    def find_dropped(self) -> set[tuple[str, ...]]:
        """Placements that have proved slower without relays, as the host of each rank."""
        placed = {run.host_of_rank for run in self.runs if run.host_of_rank is not None}
        return {names for names in placed if self.compare_placement(names).is_slower}

    def compare(self, kind: _Kind, reference: _Kind) -> RunComparison:
        """The latest runs of two combinations; those of the reference are of the same time.

        Runs from before one of them was to be tried again do not count, nor do those alongside
        which another run used the same hosts.
        """
        begin = self._begin(kind.host_of_rank)
        own = [at for at in self._positions(kind) if at >= begin][-MOST_COMPARED:]
        others = [at for at in self._positions(reference) if at >= begin]
        last = own[-1] if own else len(self.runs)
        before = [at for at in others if at < last]
        after = [at for at in others if at > last]
        # What was shown at the last run stays so, whatever load comes later.
        at_last = self._compare_positions(own, before[-MOST_COMPARED:])
        if at_last.is_slower:
            return at_last
        return self._compare_positions(own, [*before, *after[:MOST_AFTER]][-MOST_COMPARED:])

    def _compare_positions(self, own: Sequence[int], others: Sequence[int]) -> RunComparison:
        return RunComparison(tuple(own), tuple(others), self._seconds(own), self._seconds(others))

    def find_changed_load(self, host_of_rank: Sequence[str]) -> str:
        """How the launcher's runs since a placement was dropped differ from those before.

        Returns:
            A sentence for a user; empty where they do not differ beyond the risk.
        """
        found = self.compare_placement(host_of_rank)
        if not found.own or not found.others:
            return ""
        last = max(found.own)
        for kind in _alike(_LAUNCHERS):
            at_of_kind = self._positions(kind)
            since = [at for at in at_of_kind if at > last][-MOST_COMPARED:]
            before = [at for at in at_of_kind if at < last and at in found.others]
            if line := _changed_load(self._seconds(since), self._seconds(before)):
                return line
        return ""

    def with_retry(self, mark: Retry) -> History:
        """The history with a mark from which on only later runs count against a placement."""
        return self.model_copy(update={"retries": (*self.retries, mark)})

    def compare_relays(self, host_of_rank: Sequence[str] | None) -> RunComparison:
        """Runs with relays on a placement against those without, there or on the launcher's.

        The launcher's own placement is what every combination is compared with. As long as nothing
        has run without relays, as after a first run with them, that is the launcher's with them.
        """
        names = _names(host_of_rank)
        relayed = _Kind(names, None, True, None)
        direct = [_Kind(other, None, False, None) for other in {names, None}]
        if names is not None:
            direct = self._those_with_runs(direct, _Kind(None, None, True, None))
        return self._compare_alike(relayed, direct)

    def _those_with_runs(self, references: list[_Kind], otherwise: _Kind) -> list[_Kind]:
        """The references, or another one where none of them has run."""
        return references if any(map(self._positions, references)) else [otherwise]

    def compare_tuning(
        self, host_of_rank: Sequence[str] | None, *, is_relayed: bool = False
    ) -> RunComparison:
        """Runs with tuned collectives on a placement against those without."""
        names = _names(host_of_rank)
        return self._compare_alike(
            _Kind(names, True, is_relayed, None), [_Kind(names, False, is_relayed, None)]
        )

    def compare_inside(self, host_of_rank: Sequence[str] | None) -> RunComparison:
        """Runs with other CPUs of the launcher's on a placement against those without.

        Without them are runs there and on the launcher's: where they are always used, there are
        none on the placement.
        """
        names = _names(host_of_rank)
        return self._compare_alike(
            _Kind(names, None, None, True), [_Kind(other, None, None) for other in {names, None}]
        )

    def _compare_alike(self, kind: _Kind, references: Sequence[_Kind]) -> RunComparison:
        """The comparison that says most against a combination, of runs that differ in it alone.

        Levers that both have in either state are in the same one in the runs that are compared.
        Where there are no such runs on both sides, as with a lever that is always used on the
        placement and never on the launcher's, those in any state are compared.
        """
        last = max(self._positions(kind), default=-1)
        alike = []
        for reference in references:
            since = {at for at in self._positions(reference) if at > last}
            for own, others in zip(_alike(kind), _alike(reference), strict=True):
                # Such runs may never come: the launcher's may always be in another state.
                has_had_turn = not since <= set(self._positions(others))
                alike.append(self.compare(own, others)._replace(has_had_turn=has_had_turn))
        found = [one for one in alike if one.own and one.others] or [
            self.compare(kind, reference) for reference in references
        ]
        return min(found, key=lambda one: (one.risk, not one.is_suspect))

    def _begin(self, host_of_rank: tuple[str, ...] | None) -> int:
        """Position of the first run that counts against a placement."""
        marks = [one.when for one in self.retries if one.host_of_rank == host_of_rank]
        if not marks:
            return 0
        return next(
            (at for at, run in enumerate(self.runs) if run.when > max(marks)), len(self.runs)
        )

    def _positions(self, kind: _Kind) -> list[int]:
        return [at for at, run in enumerate(self.runs) if kind.includes(run) and not run.is_shared]

    def _seconds(self, positions: Sequence[int]) -> tuple[float, ...]:
        return tuple(self.runs[at].seconds for at in positions)

    def _times_s(self, kind: _Kind) -> tuple[float, ...]:
        """Times of a combination; those of runs with shared hosts only if there are no others."""
        alone = self._seconds(self._positions(kind))
        return alone or tuple(run.seconds for run in self.runs if kind.includes(run))

    def without_old_runs(self) -> History:
        """The latest runs, and older ones on which it depends what has proved slower."""
        first = len(self.runs) - MOST_RUNS
        decisive = self._decisive_runs() if first > 0 else set()
        runs = [one for i, one in enumerate(self.runs) if i >= first or i in decisive]
        return self.model_copy(update={"runs": tuple(runs)})

    def _decisive_runs(self) -> set[int]:
        """Positions of the runs by which anything has proved slower, and of the launcher's latest.

        What has proved slower is not used again, so its runs grow no more.
        """
        decisive = set(self._positions(_LAUNCHERS)[-MOST_COMPARED:])
        for names in {run.host_of_rank for run in self.runs}:
            comparisons = [
                self.compare_tuning(names),
                self.compare_tuning(names, is_relayed=True),
                self.compare_relays(names),
                self.compare_inside(names),
            ]
            if names is not None:
                comparisons.append(self.compare_placement(names))
            for found in comparisons:
                if found.is_slower:
                    decisive |= {*found.own, *found.others}
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


def _names(host_of_rank: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if host_of_rank is None else tuple(host_of_rank)


def _changed_load(now_s: Sequence[float], then_s: Sequence[float]) -> str:
    """How runs of the launcher differ from earlier ones; empty where not beyond the risk."""
    if len(now_s) < 2 or len(then_s) < 2:
        return ""
    ratio = statistics.median(now_s) / statistics.median(then_s)
    risk = 2 * min(rank_sum_risk(now_s, then_s), rank_sum_risk(then_s, now_s))
    if risk > RISK or abs(ratio - 1) <= LOAD_RATIO:
        return ""
    return (
        f"the load has changed: the launcher's runs take {statistics.median(now_s):.3g} s, "
        f"before {statistics.median(then_s):.3g} s"
    )


def now() -> datetime.datetime:
    """The current time in the form of a run's record."""
    return datetime.datetime.now(datetime.timezone.utc)
