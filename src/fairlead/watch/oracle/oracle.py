# SPDX-License-Identifier: Apache-2.0
"""Answers for pairs of nodes: metrics of the links on their routes, reduced to one value."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.measure.metrics import MetricSource
from fairlead.model.network import Network
from fairlead.model.topology import Reducer, Reduction, Topology
from fairlead.model.topology.routes import known_reducer
from fairlead.watch.oracle.collecting import Collector, Reporter
from fairlead.watch.oracle.crossings import Crossings, crossings
from fairlead.watch.oracle.link_metrics import LinkMetrics, link_metrics
from fairlead.watch.oracle.samples import SampleStore

__all__ = ["METRICS", "MOST_NODES", "MOST_WINDOW_S", "Answer", "Oracle", "Question"]

METRICS = {
    "hops": "links on the route",
    "bw": "share of a link's bandwidth that is used",
    "stalls": "share of the time that packets waited for a link",
    "free_Bps": "bandwidth of a link that is left, in bytes per second",
    "capacity_Bps": "bandwidth of a link, in bytes per second",
    "latency_s": "latency that a probe measured, in seconds",
}
"""What can be asked. Source: HOPS, BW and STALLS of ORACLE."""

_USUAL = {"free_Bps": Reduction.min, "capacity_Bps": Reduction.min}
"""The reduction unless one is asked for: what is left on a route is what its fullest link leaves;
of the others the largest, as ORACLE does."""

MOST_NODES = 2048
"""Most nodes of one question: an answer of 4 million pairs, 32 MB a metric."""

MOST_WINDOW_S = 600.0
"""Longest window: for it samples are kept."""

MOST_WINDOWS = 3
"""Windows whose link metrics are kept until the next round of reads."""

MOST_PROGRAMS = 4
"""Whose crossings are kept: 10 MB for one on 256 hosts."""

MOST_REDUCERS = 12
"""Most reducers of a window; for a torus of 10,000 nodes each takes some 2 MB."""


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        nodes: Names of hosts.
        metrics: Names in METRICS.
        reduction: How links become a route; None: the usual one of each metric.
        window_s: Time window, in seconds, that ends now.
    """

    nodes: tuple[str, ...]
    metrics: tuple[str, ...] = ("stalls",)
    reduction: Reduction | None = None
    window_s: float = 60.0


@dataclasses.dataclass(frozen=True, eq=False)
class MetricOfPairs:
    """One metric of all pairs.

    Attributes:
        values: Shape (N, N), [src, dst]; `nan` where no link of the route is known. 0 for one node
            or router; of a bandwidth `nan`, as no link is crossed.
        coverage: Share of the links of each route that are known, shape (N, N).
    """

    values: npt.NDArray[np.float64]
    coverage: npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question.

    Attributes:
        question: What was asked.
        metrics: Values and coverage, by metric.
        age_s: Age of the oldest newest sample among all links that are known; `nan` without any.
    """

    question: Question
    metrics: dict[str, MetricOfPairs]
    age_s: float


@dataclasses.dataclass(frozen=True, eq=False)
class _Window:
    """What was computed of one window, for one generation of samples."""

    links: LinkMetrics
    reducers: dict[tuple[str, Reduction], Reducer]
    oldest_s: float
    """Time of the oldest newest sample among all links that are known; `nan` without any."""
    is_asked_for: threading.Event = dataclasses.field(default_factory=threading.Event)

    def value_of_link(self, name: str) -> npt.NDArray[np.float64]:
        """A metric, or "NAME known": 1 where that is known, else 0."""
        values = {
            "bw": self.links.used_ratio,
            "stalls": self.links.stalled_ratio,
            "free_Bps": self.links.free_Bps,
            "capacity_Bps": self.links.capacity_Bps,
        }[name.removesuffix(" known")]
        return np.isfinite(values).astype(np.float64) if name.endswith(" known") else values


class _Pairs(NamedTuple):
    """Positions of sending and receiving hosts, shape (N, N)."""

    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]


class Oracle:
    """A topology, and what its links do now."""

    def __init__(
        self,
        topology: Topology,
        sources: Sequence[MetricSource] = (),
        *,
        latency: Callable[[], Network | None] | None = None,
        stale_s: float = 60.0,
        report: Reporter = lambda line: None,
        clock: Callable[[], float] = time.time,
    ):
        """An oracle that has read nothing yet.

        Args:
            topology: Where messages go.
            sources: Where counters are read.
            latency: Returns what was measured last, None for nothing yet; None: it is not measured.
            stale_s: What is older is no value for now.
            report: Gets lines about sources.
            clock: Seconds since 1970.
        """
        self.topology = topology
        self.stale_s = stale_s
        self.store = SampleStore(
            topology.links.into(),
            topology.links.out_of(),
            aliases=topology.port_aliases,
            hosts=topology.hosts,
        )
        self.collector = Collector(
            self.store, sources, window_s=MOST_WINDOW_S, report=report, prepare=self._prepare
        )
        self._latency = latency
        self._clock = clock
        self._hops = topology.hops()
        self._windows: dict[float, tuple[int, _Window]] = {}
        self._crossings: dict[tuple[str, ...], Crossings] = {}
        self._keeping = threading.Lock()

    def use_clock_of_samples(self) -> None:
        """Let now be the time of the newest sample, for recordings."""
        self._clock = self.store.newest_s

    def ask(self, question: Question) -> Answer:
        """What is known now.

        Raises:
            InputError: Too many nodes, an unknown metric or node, or a window out of range.
        """
        _check(question)
        hosts = self.topology.indices(question.nodes)
        pairs = _Pairs(*np.broadcast_arrays(hosts[:, None], hosts[None, :]))
        window = self._window(question.window_s)
        hops = self._hops(*pairs)
        metrics = {
            metric: self._metric(metric, question, window, pairs, hops)
            for metric in question.metrics
        }
        return Answer(question, metrics, self._clock() - window.oldest_s)

    def crossings(self, hosts: tuple[str, ...]) -> Crossings:
        """The links on the routes between these hosts.

        They are kept, as routes do not change.

        Raises:
            TopologyError: A host is unknown.
        """
        found = self._crossings.get(hosts)
        if found is None:
            found = crossings(self.topology, hosts)
            with self._keeping:
                while len(self._crossings) >= MOST_PROGRAMS:
                    self._crossings.pop(next(iter(self._crossings)))
                self._crossings[hosts] = found
        return found

    def links(self, window_s: float = 60.0) -> LinkMetrics:
        """What every link does."""
        return self._window(window_s).links

    def _metric(
        self,
        metric: str,
        question: Question,
        window: _Window,
        pairs: _Pairs,
        hops: npt.NDArray[np.float64],
    ) -> MetricOfPairs:
        if metric == "hops":
            return MetricOfPairs(hops, np.isfinite(hops).astype(np.float64))
        if metric == "latency_s":
            return self._probed_latency(question.nodes)
        reduction = question.reduction or _USUAL.get(metric, Reduction.max)
        values = self._reducer(window, metric, reduction)(*pairs)
        known = self._reducer(window, f"{metric} known", Reduction.sum)(*pairs)
        with np.errstate(divide="ignore", invalid="ignore"):
            coverage = np.where(hops > 0, known / hops, 1.0)
        coverage = np.where(np.isnan(hops), 0.0, coverage)
        nowhere = np.nan if metric in _USUAL else 0.0
        values = np.where(hops > 0, np.where(known > 0, values, np.nan), nowhere)
        values = np.where(np.isnan(hops), np.nan, values)
        return MetricOfPairs(values, coverage)

    def _reducer(self, window: _Window, name: str, how: Reduction) -> Reducer:
        """What reduces a metric of the links to one of pairs; kept with the window."""
        found = window.reducers.get((name, how))
        if found is None:
            found = known_reducer(self.topology.routes, window.value_of_link(name), how)
            with self._keeping:
                while len(window.reducers) >= MOST_REDUCERS:
                    window.reducers.pop(next(iter(window.reducers)))
                window.reducers[name, how] = found
        return found

    def _probed_latency(self, nodes: tuple[str, ...]) -> MetricOfPairs:
        """Latency by the probe; `nan` for what it did not measure."""
        network = None if self._latency is None else self._latency()
        latency_s = np.full((len(nodes), len(nodes)), np.nan)
        if network is not None:
            position = {host: index for index, host in enumerate(network.hosts)}
            here = np.array([i for i, node in enumerate(nodes) if node in position], dtype=int)
            there = np.array([position[nodes[index]] for index in here], dtype=int)
            latency_s[np.ix_(here, here)] = network.latency_s[np.ix_(there, there)]
        np.fill_diagonal(latency_s, 0.0)
        return MetricOfPairs(latency_s, np.isfinite(latency_s).astype(np.float64))

    def is_ready(self, window_s: float) -> bool:
        """Whether link metrics of a window are at hand; else they take some time."""
        return self._kept(window_s, self.collector.generation, self._clock()) is not None

    def _kept(self, window_s: float, generation: int, now_s: float) -> _Window | None:
        kept = self._windows.get(window_s)
        if kept is None or kept[0] < generation:
            return None
        # What is kept as known may be too old by now.
        has_aged = kept[1].oldest_s < now_s - self.stale_s
        return None if has_aged else kept[1]

    def _window(self, window_s: float) -> _Window:
        """Link metrics of a window, computed once for each round of reads."""
        generation, now_s = self.collector.generation, self._clock()
        window = self._kept(window_s, generation, now_s)
        if window is None:
            window = self._compute(window_s, now_s)
            self._keep(window_s, generation, window)
        window.is_asked_for.set()
        return window

    def _compute(self, window_s: float, now_s: float) -> _Window:
        with self.collector.lock:
            found = link_metrics(self.store, self.topology.links, now_s, window_s, self.stale_s)
        newest_s = found.newest_s[np.isfinite(found.newest_s)]
        return _Window(found, {}, float(newest_s.min()) if newest_s.size else float("nan"))

    def _keep(self, window_s: float, generation: int, window: _Window) -> None:
        with self._keeping:
            if self._windows.get(window_s, (-1,))[0] > generation:
                return
            while len(self._windows) >= MOST_WINDOWS and window_s not in self._windows:
                self._windows.pop(next(iter(self._windows)))
            self._windows[window_s] = (generation, window)

    def _prepare(self, generation: int) -> None:
        """Compute the windows that were asked for since the last read, so that nobody waits.

        Until they are there, answers are from the read before.
        """
        with self._keeping:
            kept = {window_s: window for window_s, (_, window) in self._windows.items()}
        for window_s, before in kept.items():
            if before.is_asked_for.is_set():
                after = self._compute(window_s, self._clock())
                for name, how in [*before.reducers]:
                    self._reducer(after, name, how)
                self._keep(window_s, generation, after)


def _check(question: Question) -> None:
    if not 1 <= len(question.nodes) <= MOST_NODES:
        raise InputError(f"nodes: expected 1 to {MOST_NODES}, got {len(question.nodes)}")
    for metric in question.metrics:
        if metric not in METRICS:
            raise InputError(f"metrics: unknown {metric!r}; there are {', '.join(METRICS)}")
    if not question.metrics:
        raise InputError(f"metrics: expected at least one of {', '.join(METRICS)}")
    if not 0 < question.window_s <= MOST_WINDOW_S:
        raise InputError(
            f"window_s: must be > 0 and <= {MOST_WINDOW_S:.0f}, got {question.window_s}"
        )
