# SPDX-License-Identifier: Apache-2.0
"""ORACLE's figures 5 and 6 on a machine of its size, simulated: 64 nodes on 32 Geminis.

A job of 64 tasks on 16 nodes (spmv's traffic: 4 x 4 x 4 tasks, 20 KB a face) multiplies while three
pairs of other nodes stream. The real oracle reads counters of the simulated links, and the real
service's code shares the tasks out anew. The nodes and pairs of the paper are not at hand: nodes
are drawn anew in each run, and of some drawn triples of pairs the one that takes most time. Flows
get max-min fair rates; there is no computing, and no latency. Intervals are 95 %, by bootstrap.
The time of a map is that of the service's whole work without HTTP (ORACLE: 12 ms for the map).

    .venv/bin/python bench/oracle/gemini.py [--draws 24] [--seed 0] [--links]
        [--optimize-s 0.05] [--short]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics import MetricSource, Quantity, Series
from fairlead.measure.topologies.gemini import NIC_BPS, TILE_BPS
from fairlead.model.topology import Topology, whole_torus
from fairlead.watch.oracle import Oracle, remapping
from fairlead.watch.oracle.remapping import RemapQuestion, remap

SIZES = (2, 2, 8)
LINK_BPS = (8 * TILE_BPS["cable"], 4 * TILE_BPS["mezzanine"], 8 * TILE_BPS["backplane"])
"""Of X, Y and Z. A Gemini has 8 tiles for each way in X and in Z, 4 in Y."""

NUM_NODES, NUM_PAIRS, TASKS_OF_NODE = 16, 3, 4
STREAMS_OF_PAIR = 16
"""Processes on each node of a pair that stream both ways: one on each of its cores."""

TRIPLES = 30
"""That are drawn, of which the one counts that takes most."""

GRID = (4, 4, 4)
COORDINATES = [[float(at) for at in place] for place in np.ndindex(*GRID)]
FACE_BYTES = 5 * 5 * 100 * 8.0

Values = npt.NDArray[np.float64]


class Method(NamedTuple):
    """How tasks are shared out, and the share of lost time that ORACLE recovered."""

    metric: str
    method: str
    paper_ratio: float | None = None


METHODS = {
    "hops, scotch": Method("hops", "scotch", 0.142),
    "bw, scotch": Method("bw", "scotch", 0.432),
    "stalls, scotch": Method("stalls", "scotch", 0.489),
    "geometric": Method("hops", "geometric", 0.255),
    "hops, optimize": Method("hops", "optimize"),
    "bw, optimize": Method("bw", "optimize"),
    "stalls, optimize": Method("stalls", "optimize"),
}


class Flows(NamedTuple):
    """Bundles of flows of the same two nodes, of which the first ones are the job's.

    Attributes:
        uses: 1 where a bundle crosses a resource, else 0, shape (R, B).
        number: Flows in each bundle, shape (B,).
        bytes: That are left of each bundle; infinite for streams of others.
    """

    uses: Values
    number: Values
    bytes: Values


class Machine:
    """The torus, with an interface of each node each way as further resources."""

    def __init__(self) -> None:
        num_nodes = 2 * int(np.prod(SIZES))
        hosts = [f"nid{n:05d}" for n in range(num_nodes)]
        self.topology = whole_torus(SIZES, hosts, LINK_BPS, [NIC_BPS] * num_nodes)
        nics = np.full(2 * num_nodes, NIC_BPS)
        self.capacity_Bps = np.concatenate([self.topology.links.capacity_Bps, nics])

    def resources(self, src: int, dst: int) -> list[int]:
        """Of a flow between two nodes."""
        num_links, num_nodes = self.topology.links.num_links, self.topology.num_hosts
        way = self.topology.routes.route(src, dst).tolist()
        return [*way, num_links + src, num_links + num_nodes + dst]

    def flows(self, traffic: dict[tuple[int, int], tuple[float, float]]) -> Flows:
        """Bundles by number of flows and bytes of each pair of nodes."""
        uses = np.zeros((len(self.capacity_Bps), len(traffic)), dtype=np.float64)
        for bundle, pair in enumerate(traffic):
            uses[self.resources(*pair), bundle] = 1
        number, size_bytes = np.array(list(traffic.values())).T
        return Flows(uses, number, size_bytes)

    def rates(self, flows: Flows) -> Values:
        """Max-min fair rate of each bundle: progressive filling, all flows alike."""
        rates = np.zeros(len(flows.number))
        left = self.capacity_Bps.copy()
        open_flows = flows.number.copy()
        while open_flows.any():
            crossing = flows.uses @ open_flows
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(crossing > 0, left / crossing, np.inf)
            least = share.min()
            full = share <= least * (1 + 1e-9)
            closed = (flows.uses[full].sum(axis=0) > 0) & (open_flows > 0)
            rates[closed] = least * flows.number[closed]
            left = np.maximum(left - flows.uses @ np.where(closed, rates, 0), 0)
            open_flows[closed] = 0
        return rates

    def product(self, job: dict, others: dict) -> tuple[float, Values, Values]:
        """Time of a product's messages, and what each resource carried and how long it was full."""
        num_job = len(job)
        flows = self.flows({**job, **others})
        left = flows.bytes.copy()
        number = flows.number.copy()
        carried, full_s = np.zeros((2, len(self.capacity_Bps)))
        now_s = 0.0
        while number[:num_job].any():
            rates = self.rates(Flows(flows.uses, number, left))
            with np.errstate(divide="ignore", invalid="ignore"):
                ends_s = np.where(number > 0, left / rates, np.inf)[:num_job]
            step_s = float(ends_s.min())
            load = flows.uses @ rates
            carried = carried + load * step_s
            full_s = full_s + step_s * (load >= self.capacity_Bps * (1 - 1e-6))
            now_s += step_s
            left[:num_job] -= rates[:num_job] * step_s
            done = np.flatnonzero(ends_s <= step_s * (1 + 1e-9))
            number[done], left[done] = 0, 0
        return now_s, carried, full_s


class Counters(MetricSource):
    """Counters of the simulated links after a second and after two."""

    name = "simulated"
    has_history = True

    def __init__(self, topology: Topology, product_s: float, carried: Values, full_s: Values):
        links = topology.links
        now_s = time.time()
        at_s = np.array([now_s - 1, now_s])
        self.series = [
            Series(port, True, quantity, at_s, np.array([value, 2 * value]))
            for quantity, values in (
                (Quantity.carried_bytes, carried / product_s),
                (Quantity.stalled_s, full_s / product_s),
            )
            for port, value in zip(links.in_ports, values[: links.num_links].tolist(), strict=True)
        ]

    def read(self, now_s: float, window_s: float) -> list[Series]:
        return self.series


def sent_by_tasks() -> list[tuple[int, int, float]]:
    """Faces between neighbouring tasks."""
    sent = []
    for place in np.ndindex(*GRID):
        for dimension in range(3):
            for step in (-1, 1):
                other = list(place)
                other[dimension] += step
                if 0 <= other[dimension] < GRID[dimension]:
                    ends = (np.ravel_multi_index(each, GRID) for each in (place, tuple(other)))
                    src, dst = (int(end) for end in ends)
                    sent.append((src, dst, FACE_BYTES))
    return sent


def job_traffic(node_of_task: Sequence[int]) -> dict[tuple[int, int], tuple[float, float]]:
    """Number of messages and bytes between nodes in a product."""
    traffic: dict[tuple[int, int], tuple[float, float]] = {}
    for src, dst, size_bytes in sent_by_tasks():
        pair = (node_of_task[src], node_of_task[dst])
        if pair[0] != pair[1]:
            number, before = traffic.get(pair, (0.0, 0.0))
            traffic[pair] = (number + 1, before + size_bytes)
    return traffic


def run(machine: Machine, seed: int, shows_links: bool) -> dict[str, float]:
    """Times of a product without and with congestion, and after each method."""
    random = np.random.default_rng(seed)
    drawn = random.permutation(machine.topology.num_hosts)
    nodes, free = sorted(drawn[:NUM_NODES].tolist()), drawn[NUM_NODES:]
    nodes_of_tasks = [nodes[task // TASKS_OF_NODE] for task in range(NUM_NODES * TASKS_OF_NODE)]
    before = job_traffic(nodes_of_tasks)
    times = {"quiet": machine.product(before, {})[0]}
    triples = [streams(random.permutation(free)[: 2 * NUM_PAIRS]) for _ in range(TRIPLES)]
    others = max(triples, key=lambda triple: machine.product(before, triple)[0])
    times["congested"], carried, full_s = machine.product(before, others)
    oracle = Oracle(
        machine.topology, [Counters(machine.topology, times["congested"], carried, full_s)]
    )
    oracle.collector.read_all()
    if shows_links:
        print_links(oracle)
    names = [machine.topology.hosts[node] for node in nodes_of_tasks]
    for name, method in METHODS.items():
        begun_s = time.perf_counter()
        found = remap(
            oracle,
            RemapQuestion(
                names, range(len(names)), sent_by_tasks(), method.metric, method.method,
                least_gain_ratio=0.0,
                coordinates_of_task=COORDINATES if method.method == "geometric" else None,
            ),
        )  # fmt: skip
        times[f"{name}: map"] = time.perf_counter() - begun_s
        process_of_task = np.argsort(found.task_of_process)
        placed = [nodes_of_tasks[process] for process in process_of_task]
        times[name] = machine.product(job_traffic(placed), others)[0]
    return times


def streams(nodes: npt.NDArray[np.int64]) -> dict[tuple[int, int], tuple[float, float]]:
    """What pairs of nodes send without an end, both ways."""
    pairs = nodes.reshape(-1, 2).tolist()
    both = [(one, other) for a, b in pairs for one, other in ((a, b), (b, a))]
    return dict.fromkeys(both, (float(STREAMS_OF_PAIR), np.inf))


def print_links(oracle: Oracle) -> None:
    links, found = oracle.topology.links, oracle.links()
    print("link, share of bandwidth used, share of time full")
    for link in np.argsort(-found.used_ratio)[:16].tolist():
        used, full = 100 * found.used_ratio[link], 100 * found.stalled_ratio[link]
        print(f"  {links.out_ports[link]:10s} {used:5.1f} % {full:5.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--links", action="store_true", help="also the links of each draw")
    parser.add_argument("--short", action="store_true", help="two draws")
    parser.add_argument("--optimize-s", type=float, default=remapping.OPTIMIZE_S, metavar="S")
    options = parser.parse_args()
    remapping.OPTIMIZE_S = options.optimize_s
    machine = Machine()
    draws = []
    seed = options.seed
    while len(draws) < (2 if options.short else options.draws):
        times = run(machine, seed, options.links)
        seed += 1
        draws.append(times)
    print(f"{len(draws)} draws of nodes and pairs")
    table = {name: np.array([times[name] for times in draws]) for name in draws[0]}
    for name in ("quiet", "congested"):
        print(f"{name:18s} {1e6 * table[name].mean():7.2f} us a product")
    random = np.random.default_rng(0)
    lost = table["congested"] - table["quiet"]
    choices = random.integers(len(draws), size=(2000, len(draws)))
    for name, method in METHODS.items():
        won = table["congested"] - table[name]
        shares = won[choices].sum(axis=1) / lost[choices].sum(axis=1)
        low, high = np.quantile(shares, [0.025, 0.975])
        share = won.sum() / lost.sum()
        told = f"{name:18s} {1e6 * table[name].mean():7.2f} us  recovers {100 * share:6.1f} % "
        told += f"[{100 * low:.1f}, {100 * high:.1f}], map in "
        told += f"{1e3 * np.median(table[f'{name}: map']):.1f} ms"
        if method.paper_ratio is not None:
            told += f"  (ORACLE: {100 * method.paper_ratio:.1f} %)"
        print(told)


if __name__ == "__main__":
    main()
