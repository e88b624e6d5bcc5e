# SPDX-License-Identifier: Apache-2.0
"""Reads all sources again and again; one that fails is reported once, and asked again.

Each has a thread of its own, so that a slow one delays no other.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence

from fairlead.errors import Error
from fairlead.measure.metrics import MetricSource
from fairlead.watch.oracle.samples import SampleStore, Unmatched

__all__ = ["Collector", "SourceState"]

Reporter = Callable[[str], None]

MOST_NAMED = 16
"""Hosts and hardware of a source that are named, of those of which the topology knows nothing."""

FIRST_READ_S = 5.0
"""A service answers after all sources were read once; it does not wait longer for a slow one."""


@dataclasses.dataclass
class SourceState:
    """How a source does.

    Attributes:
        name: As the user wrote it.
        last_s: When it was last read well, or None.
        seconds: What that took.
        num_series: Number of series that it gave.
        num_unknown: Number of those of hosts or hardware of which none is in the topology.
        unmatched: Names of those hosts and hardware, and of adapters of known hosts, at most
            MOST_NAMED.
        num_unmatched: How many there are.
        without_link: Ports of adapters that are down, at most MOST_NAMED.
        num_without_link: How many there are.
        skipped: What the source holds and is not understood, at most MOST_NAMED lines.
        warnings: What the source says of its answer and of the network, at most MOST_NAMED lines.
        problem: Why it cannot be read now, or None.
        num_failures: Reads that failed, since the begin.
    """

    name: str
    last_s: float | None = None
    seconds: float = 0.0
    num_series: int = 0
    num_unknown: int = 0
    unmatched: list[str] = dataclasses.field(default_factory=list)
    num_unmatched: int = 0
    without_link: list[str] = dataclasses.field(default_factory=list)
    num_without_link: int = 0
    skipped: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    problem: str | None = None
    num_failures: int = 0

    @property
    def is_well(self) -> bool:
        """Whether it was read, and describes at least one link."""
        is_read = self.problem is None and self.last_s is not None
        return is_read and self.num_series > self.num_unknown


class Collector:
    """Fills a store from sources, in threads of its own.

    Attributes:
        lock: Held while the store is changed or read.
        generation: Grows with each read, when all is prepared that was asked for before it.
        states: States of the sources, in their order.
    """

    def __init__(
        self,
        store: SampleStore,
        sources: Sequence[MetricSource],
        *,
        window_s: float,
        report: Reporter = lambda line: None,
        prepare: Callable[[int], None] = lambda generation: None,
    ):
        """A collector that reads nothing yet.

        Args:
            store: Where samples go.
            sources: Who is asked.
            window_s: The longest window that is asked for.
            report: Gets a line when a source fails, and when it is back.
            prepare: Computes what was asked for anew, from the samples of this generation.
        """
        self.lock = threading.Lock()
        self.generation = 0
        self._num_reads = 0
        self._prepare = prepare
        self.states = [SourceState(source.name) for source in sources]
        self._store = store
        self._sources = list(sources)
        self._window_s = window_s
        self._report = report
        self._is_over = threading.Event()

    def read_all(self) -> None:
        """One round."""
        for source, state in zip(self._sources, self.states, strict=True):
            self._read(source, state)

    def _read(self, source: MetricSource, state: SourceState) -> None:
        begun_s = time.monotonic()
        try:
            series = source.read(time.time(), self._window_s)
        except (Error, OSError) as error:
            self._note_failure(state, str(error))
            return
        with self.lock:
            unmatched = self._store.add(series, is_whole=source.has_history, source=source.name)
            self._num_reads += 1
            generation = self._num_reads
        self._prepare(generation)
        with self.lock:
            self.generation = max(self.generation, generation)
        self._note_unmatched(state, unmatched, len(series))
        self._note_without_link(state, source.without_link)
        skipped = list(source.skipped[:MOST_NAMED])
        for line in skipped:
            if line not in state.skipped:
                self._report(f"{line}; left out")
        state.skipped = skipped
        warnings = list(source.warnings[:MOST_NAMED])
        for line in warnings:
            if line not in state.warnings:
                self._report(line)
        state.warnings = warnings
        if state.problem is not None:
            self._report(f"{source.name}: is back")
        state.problem = None
        state.last_s, state.seconds = time.time(), time.monotonic() - begun_s
        state.num_series = len(series)

    def _note_failure(self, state: SourceState, problem: str) -> None:
        """Keep why a source cannot be read, with a line when that begins."""
        state.num_failures += 1
        if state.problem is None:
            self._report(f"{problem}; retried every round")
        state.problem = problem

    def _note_unmatched(self, state: SourceState, found: Unmatched, num_series: int) -> None:
        """Keep what is of no link, with a line whenever that changes."""
        names = list(found.names[:MOST_NAMED])
        if num_series == 0 and (state.last_s is None or state.num_series > 0):
            self._report(f"{state.name}: describes no link")
        elif found.names and (names, len(found.names)) != (state.unmatched, state.num_unmatched):
            self._report(
                f"{state.name}: {found.num_series} of {num_series} series match no link of the "
                f"topology: {_some(names, len(found.names))}"
            )
        state.num_unknown = found.num_series
        state.unmatched, state.num_unmatched = names, len(found.names)

    def _note_without_link(self, state: SourceState, found: Sequence[str]) -> None:
        """Keep adapters that are down, with a line whenever that changes."""
        names = list(found[:MOST_NAMED])
        if found and (names, len(found)) != (state.without_link, state.num_without_link):
            self._report(f"{state.name}: adapters without a link: {_some(names, len(found))}")
        state.without_link, state.num_without_link = names, len(found)

    def run(self, every_s: float) -> None:
        """Read again and again until `stop`; returns when all were read once, or after a while."""
        ready = [
            self._begin(source, state, every_s)
            for source, state in zip(self._sources, self.states, strict=True)
        ]
        end_s = time.monotonic() + FIRST_READ_S
        for is_read in ready:
            is_read.wait(max(0.0, end_s - time.monotonic()))

    def _begin(self, source: MetricSource, state: SourceState, every_s: float) -> threading.Event:
        """Start the thread of a source; the event shows that it was read once, well or not."""
        is_read = threading.Event()

        def read_until_end() -> None:
            while not self._is_over.is_set():
                begun_s = time.monotonic()
                try:
                    self._read(source, state)
                except Exception as error:
                    # What nobody expects of a source must not end its thread: its figures would
                    # stay those of that moment, without a word.
                    self._note_failure(state, f"{state.name}: cannot be read: {error!r}")
                is_read.set()
                self._is_over.wait(max(0.0, every_s - (time.monotonic() - begun_s)))

        threading.Thread(target=read_until_end, name=f"read {source.name}", daemon=True).start()
        return is_read

    def stop(self) -> None:
        """Read no more."""
        self._is_over.set()


def _some(names: Sequence[str], num_all: int) -> str:
    """The names, and how many are not among them."""
    more = num_all - len(names)
    return f"{', '.join(names)}{f' and {more} more' if more else ''}"
