# SPDX-License-Identifier: Apache-2.0
"""ORACLE's experiment on its machine, simulated: map, then 10,000 products while pairs stream.

The load: each pair streams both ways, one stream each, 1 MiB a message with pauses, so that the
link of which section IV-B prints 68 % of stalled time is full as long. What a stream counts for
on a link is set so that congestion costs the program about the 18.9 % of section V (`LOADS`, text),
and computing takes what table I leaves beyond the messages. All else is a result.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flows import Flows, Run, Streams
from paper_machine import (
    NUM_PRODUCTS,
    host_of_rank,
    messages_between,
    sent_by_tasks,
    task_coordinates,
)

from fairlead.decide.placement.metric_mapping import estimate_costs
from fairlead.measure.metrics import MetricSource, Quantity, Series
from fairlead.model.topology import Topology
from fairlead.watch.oracle import Oracle, remapping
from fairlead.watch.oracle.machine_graph import machine_graph
from fairlead.watch.oracle.remapping import BY_METRIC, RemapQuestion, remap

Values = npt.NDArray[np.float64]

QUIET_S, CONGESTED_S = 5.07, 6.03
"""Seconds of 10,000 products (table I)."""

SAMPLE_S = 2.0
"""Between two samples of a counter (section IV-C)."""

WINDOW_S = 60.0
"""Window of a question: longer than between the two samples that there are."""

LOADS = {
    "text": Streams(share=32, gap_s=105e-6),
    "without pauses": Streams(share=27, gap_s=0.0),
    "one of many": Streams(share=1, gap_s=105e-6),
}
"""`text`: both set as above. `without pauses`: as many streams a pair as cost the program 18.9 %.
`one of many`: as `text`, but a stream counts for no more than one message of the program."""

OPTIMIZE_S = 0.5
"""Limit of `optimize`: on a busy machine the product's 50 ms would decide what it finds."""


class Method(NamedTuple):
    """How tasks are mapped, and what ORACLE found.

    Attributes:
        metric, method: Of a remapping.
        recovered: Percent of the time lost to congestion that ORACLE recovered (table II).
        time_change: Percent by which its time changed (section V).
        cost: Largest estimated cost of a message, as part of that without mapping (figure 5).
    """

    metric: str
    method: str
    recovered: float | str | None = None
    time_change: float | str | None = None
    cost: float | str | None = None


PAPER = {
    "no metric": Method("none", BY_METRIC, None, "text: slower", 1.0),
    "HOPS": Method("hops", BY_METRIC, 14.2, -2.2, "text: below 1"),
    "BW": Method("bw", BY_METRIC, 43.2, -6.9, "text: below 1"),
    "STALLS": Method("stalls", BY_METRIC, 48.9, -7.8, "text: below 1"),
    "MJ": Method("hops", "geometric", 25.5),
}
OURS = {
    f"ours: {metric.upper()}, {method}": Method(metric, method)
    for method in ("scotch-best", "optimize")
    for metric in ("hops", "bw", "stalls")
}


class Counters(MetricSource):
    """Counters of simulated links at the ends of a sampling interval."""

    name = "simulated"
    has_history = True

    def __init__(self, topology: Topology, run: Run):
        now_s = time.time()
        at_s = np.array([now_s - SAMPLE_S, now_s])
        self.series = [
            Series(port, True, quantity, at_s, np.array([0.0, SAMPLE_S * value]))
            for quantity, values in (
                (Quantity.carried_bytes, run.carried_bytes / run.seconds),
                (Quantity.stalled_s, run.full_s / run.seconds),
            )
            for port, value in zip(topology.links.in_ports, values.tolist(), strict=True)
        ]

    def read(self, now_s: float, window_s: float) -> list[Series]:
        return self.series


def oracle_of(topology: Topology, run: Run) -> Oracle:
    """An oracle that has read the counters of a simulation."""
    oracle = Oracle(topology, [Counters(topology, run)], stale_s=3600.0)
    oracle.collector.read_all()
    return oracle


class Experiment:
    """One load on the machine."""

    def __init__(self, flows: Flows, load: str, num_products: int = NUM_PRODUCTS):
        self.flows = flows
        self.load = load
        self.streams = LOADS[load]
        # Without pauses nothing changes from one product to the next.
        self.num_products = num_products if self.streams.gap_s > 0 else min(3, num_products)
        self.hosts = host_of_rank()
        self.messages = messages_between(self.hosts)
        self.messages_s = flows.products(self.messages, None, 1, 0.0, 0).seconds
        self.compute_s = QUIET_S / NUM_PRODUCTS - self.messages_s
        remapping.OPTIMIZE_S = OPTIMIZE_S

    def congested_s(self, hosts_of_tasks: Sequence[str], seed: int) -> float:
        """10,000 products while the streams run, with each task on a host."""
        run = self.flows.products(
            messages_between(hosts_of_tasks), self.streams, self.num_products, self.compute_s, seed
        )
        return NUM_PRODUCTS * run.seconds / self.num_products

    def quiet_s(self, hosts_of_tasks: Sequence[str]) -> float:
        """The same without streams: all products take as long."""
        run = self.flows.products(messages_between(hosts_of_tasks), None, 1, self.compute_s, 0)
        return NUM_PRODUCTS * run.seconds

    def oracle(self, method: Method, seed: int) -> Oracle:
        """What the mapping is made from. ORACLE mapped before the products began; ours is for the
        middle of a run, so that counters also hold what the program sends."""
        if method.method == BY_METRIC or method.metric == "hops":  # which needs no counters
            run = self.flows.streams_alone(self.streams, SAMPLE_S, seed)
        else:
            number = int(SAMPLE_S / (CONGESTED_S / NUM_PRODUCTS))
            run = self.flows.products(self.messages, self.streams, number, self.compute_s, seed)
        return oracle_of(self.flows.topology, run)

    def mapped(self, method: Method, seed: int) -> list[str]:
        """Host of each task by a method, every map taken."""
        found = remap(
            self.oracle(method, seed),
            RemapQuestion(
                self.hosts, range(len(self.hosts)), sent_by_tasks(), method.metric, method.method,
                least_gain_ratio=0.0, coordinates_of_task=task_coordinates(), seed=seed,
            ),
        )  # fmt: skip
        return [self.hosts[process] for process in np.argsort(found.task_of_process)]

    def cost_ratios(self, method: Method, seed: int) -> tuple[float, float]:
        """Estimated cost by the method's own graph, as part of that without mapping: of the most
        expensive message, and of all together."""
        oracle = self.oracle(method, seed)
        after, before = (
            estimate_costs(
                traffic_bytes(),
                machine_graph(oracle, hosts, method.metric, WINDOW_S),
                np.arange(len(hosts)),
            )
            for hosts in (self.mapped(method, seed), self.hosts)
        )
        return float(after.max() / before.max()), float(after.sum() / before.sum())


def traffic_bytes() -> sp.csr_array:
    """Bytes of a product between tasks, [src, dst]."""
    rows = np.array(sent_by_tasks())
    return sp.csr_array((rows[:, 2], (rows[:, 0].astype(int), rows[:, 1].astype(int))))
