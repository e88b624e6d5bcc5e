# SPDX-License-Identifier: Apache-2.0
"""ORACLE's evaluation on its own machine, nodes, pairs and program, simulated.

    .venv/bin/python bench/oracle/gemini.py --item congestion|figure-4|table-1|figure-5-cost
        |figure-5-time|figure-6|table-2|ours [--runs 24] [--products 10000] [--short]
        [--figures FILE]

A run differs from the others by Scotch's random numbers and by when streams send. A product
computes, then sends its messages, and ends with the last one; flows get max-min fair rates, and
there is no latency.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from experiment import (
    CONGESTED_S,
    LOADS,
    OURS,
    PAPER,
    QUIET_S,
    SAMPLE_S,
    Experiment,
    Method,
    oracle_of,
)
from figures import Figure, mean_of, print_figures, write_figures
from flows import Flows, compiled_flows
from mj_readings import MJ_READINGS, hosts_by
from paper_machine import APPLICATION, NUM_PRODUCTS, machine, name_of

from fairlead.model.topology import Reduction
from fairlead.watch.oracle import Question

NODES = tuple(name_of(node) for node in APPLICATION)
RANGE_PERCENT = 10


def congestion(flows: Flows, runs: int, _products: int) -> list[Figure]:
    """Section IV-B: the largest shares of stalled time and of bandwidth, and where they are."""
    links = flows.topology.links
    alone = [flows.streams_alone(LOADS["text"], SAMPLE_S, seed) for seed in range(runs)]
    full = 100 * np.array([run.full_s / run.seconds for run in alone])
    used = 100 * np.array([run.carried_bytes / run.seconds / links.capacity_Bps for run in alone])
    second = links.out_ports.index("1,0,7 Y+")
    rows = [
        ("stalled, out of 1,0,6 Y+ (set so)", 68.0, full[:, links.out_ports.index("1,0,6 Y+")]),
        ("stalled, out of 1,0,7 Y+", "text: comparable", full[:, second]),
        ("used, into 1,1,5 Z+", 61.0, used[:, links.in_ports.index("1,1,5 Z+")]),
    ]
    found = [mean_of(name, "% of a 2 s sample", paper, values) for name, paper, values in rows]
    fullest = links.in_ports.index("1,1,5 Z+")
    mean_used = used.mean(axis=0)
    more = int(np.sum(np.delete(mean_used, fullest) > mean_used[fullest]))
    name = (
        f"links used more than that (the most used goes into {links.in_ports[mean_used.argmax()]})"
    )
    return [*found, Figure(name, "links", 0, float(more), samples=runs)]


def figure_4(flows: Flows, runs: int, _products: int) -> list[Figure]:
    """HOPS of the 256 routes, and BW and STALLS by the streams; the high ends are exclusive."""
    shown = []
    for seed in range(runs):
        alone = flows.streams_alone(LOADS["text"], SAMPLE_S, seed)
        asked = Question(NODES, ("hops", "bw", "stalls"), Reduction.max)
        shown.append(oracle_of(flows.topology, alone).ask(asked).metrics)
    hops = np.bincount(shown[0]["hops"].values.astype(int).ravel())
    found = [Figure(f"HOPS {n}", "routes of 256", None, float(k)) for n, k in enumerate(hops)]
    for metric in ("bw", "stalls"):
        edges = np.arange(0, 100 + 2 * RANGE_PERCENT, RANGE_PERCENT)
        counts = np.array(
            [np.histogram(100 * metrics[metric].values, edges)[0] for metrics in shown]
        )
        found += [
            mean_of(f"{metric.upper()} {low} to {low + RANGE_PERCENT} %", "routes of 256", None, of)
            for low, of in zip(edges.tolist(), counts.T, strict=False)
            if of.any()
        ]
    return found


def table_1(flows: Flows, runs: int, products: int) -> list[Figure]:
    """Execution time without and with congestion."""
    experiment = Experiment(flows, "text", products)
    unit = f"s for {NUM_PRODUCTS} products"
    found = [
        Figure("without congestion (set so)", unit, QUIET_S, experiment.quiet_s(experiment.hosts)),
        Figure("of it messages", unit, None, NUM_PRODUCTS * experiment.messages_s),
    ]
    for load, name in (
        ("text", "with congestion (a stream's share is set so)"),
        ("one of many", "with congestion, a stream's share is that of one message"),
    ):
        each = Experiment(flows, load, products)
        times_s = [each.congested_s(each.hosts, seed) for seed in range(runs)]
        found.append(mean_of(name, unit, CONGESTED_S, times_s))
        if load == "text":
            more = mean_of(
                "increase", "%", 18.9, times_s, lambda mean_s: 100 * (mean_s / QUIET_S - 1)
            )
            found.append(more)
    return found


def figure_5_cost(flows: Flows, runs: int, products: int) -> list[Figure]:
    """Estimated cost by each metric's own graph: of the most expensive message, and of all."""
    experiment = Experiment(flows, "text", products)
    unit = "of that without mapping"
    found = []
    for name, method in PAPER.items():
        if method.cost is not None:
            ratios = np.array([experiment.cost_ratios(method, seed) for seed in range(runs)])
            found.append(mean_of(f"{name}, largest of a message", unit, method.cost, ratios[:, 0]))
            found.append(mean_of(f"{name}, total", unit, None, ratios[:, 1]))
    return found


def figure_5_time(flows: Flows, runs: int, products: int) -> list[Figure]:
    """Change of the execution time under congestion by each mapping."""
    experiment = Experiment(flows, "text", products)
    before = [experiment.congested_s(experiment.hosts, seed) for seed in range(runs)]
    unit = "% of the time without mapping"
    ideal = 100 * (QUIET_S / CONGESTED_S - 1)

    def change(before_s: float, after_s: float) -> float:
        return 100 * (after_s / before_s - 1)

    found = [mean_of("no congestion", unit, round(ideal, 1), [before, [QUIET_S] * runs], change)]
    for name, method in PAPER.items():
        if method.time_change is not None:
            after = times_of(experiment, method, runs)
            found.append(mean_of(name, unit, method.time_change, [before, after], change))
    return found


def times_of(experiment: Experiment, method: Method, runs: int) -> list[float]:
    return [experiment.congested_s(experiment.mapped(method, seed), seed) for seed in range(runs)]


def recovered(
    flows: Flows, runs: int, products: int, methods: dict[str, Method], load: str
) -> list[Figure]:
    """Percent of the time lost to congestion that each mapping recovers."""
    experiment = Experiment(flows, load, products)
    return won_by(
        experiment,
        runs,
        {
            name: (method.recovered, times_of(experiment, method, runs))
            for name, method in methods.items()
        },
    )


def won_by(
    experiment: Experiment,
    runs: int,
    paper_and_times_s: dict[str, tuple[float | str | None, list[float]]],
) -> list[Figure]:
    """The same of given times under congestion, with the paper's value."""
    quiet_s = experiment.quiet_s(experiment.hosts)
    before = [experiment.congested_s(experiment.hosts, seed) for seed in range(runs)]

    def won(before_s: float, after_s: float) -> float:
        return 100 * (before_s - after_s) / (before_s - quiet_s)

    name_of_load = "" if experiment.load == "text" else f", {experiment.load}"
    return [
        mean_of(name + name_of_load, "% of the time lost", paper, [before, after], won)
        for name, (paper, after) in paper_and_times_s.items()
    ]


def mj_readings(flows: Flows, runs: int, products: int, load: str) -> list[Figure]:
    """MJ by other readings of the text; they have no random choice."""
    experiment = Experiment(flows, load, products)
    hosts_of = {name: hosts_by(cut) for name, cut in MJ_READINGS.items()}
    return won_by(
        experiment,
        runs,
        {
            name: (
                PAPER["MJ"].recovered,
                [experiment.congested_s(hosts, seed) for seed in range(runs)],
            )
            for name, hosts in hosts_of.items()
        },
    )


def figure_6(flows: Flows, runs: int, products: int) -> list[Figure]:
    graph_based = {name: PAPER[name] for name in ("HOPS", "BW", "STALLS")}
    return recovered(flows, runs, products, graph_based, "text")


def table_2(flows: Flows, runs: int, products: int) -> list[Figure]:
    methods = {name: method for name, method in PAPER.items() if method.recovered is not None}
    return [
        figure
        for load in ("text", "without pauses")
        for figure in (
            *recovered(flows, runs, products, methods, load),
            *mj_readings(flows, runs, products, load),
        )
    ]


def ours(flows: Flows, runs: int, products: int) -> list[Figure]:
    return recovered(flows, runs, products, OURS, "text")


ITEMS: dict[str, Callable[[Flows, int, int], list[Figure]]] = {
    "congestion": congestion,
    "figure-4": figure_4,
    "table-1": table_1,
    "figure-5-cost": figure_5_cost,
    "figure-5-time": figure_5_time,
    "figure-6": figure_6,
    "table-2": table_2,
    "ours": ours,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--item", choices=ITEMS, action="append", help="repeatable; or all")
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--products", type=int, default=NUM_PRODUCTS, help="that are simulated")
    parser.add_argument("--short", action="store_true", help="2 runs of 200 products")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="also as JSON")
    options = parser.parse_args()
    if options.short:
        options.runs, options.products = 2, 200
    found = []
    with compiled_flows(machine()) as flows:
        for item in options.item or ITEMS:
            figures = ITEMS[item](flows, options.runs, options.products)
            print_figures(figures, f"ORACLE, {item}")
            found += figures
    write_figures(found, options.figures)


if __name__ == "__main__":
    main()
