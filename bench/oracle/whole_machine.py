# SPDX-License-Identifier: Apache-2.0
"""What the oracle takes on a simulated machine of 27,648 nodes, the size of Blue Waters.

A torus of 24 x 24 x 24 routers with two nodes each, all of whose links have traffic and stalls in
64 samples ten seconds apart. Printed are the time of a query of 16 hosts (256 routes), that of the
first one after sources were read, the age of what an answer rests on, and the process's memory.

    .venv/bin/python bench/oracle/whole_machine.py [--short]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from service import EVERY_S, NODES_OF_QUERY, ROUNDS, SHORT_ROUNDS, Everything, torus

from fairlead.watch.oracle import Answer, Oracle, Question

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

QUERY_LIMIT_S = 5e-3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="2000 nodes, less of the rest")
    add_tables_option(parser)
    options = parser.parse_args()
    sizes, repeats = ((10, 10, 10), 20) if options.short else ((24, 24, 24), 1000)
    rounds = SHORT_ROUNDS if options.short else ROUNDS
    source = Everything(sizes, rounds)
    oracle = Oracle(torus(*sizes), [source])
    for _ in range(rounds):
        oracle.collector.read_all()
    hosts, links = oracle.topology.hosts, oracle.topology.links
    spread = tuple(hosts[:: len(hosts) // NODES_OF_QUERY][:NODES_OF_QUERY])

    table = Table(
        box=None,
        title=f"{len(hosts):,} nodes, {links.num_links:,} links, {rounds} samples each",
    )
    for heading in ("what", "here", "limit"):
        table.add_column(heading)
    query_s = times_s(lambda: ask(oracle, spread), repeats)
    table.add_row("STALLS of 256 routes between 16 nodes", *in_ms(query_s), "5 ms")
    first_s = []
    read_s = []
    for _ in range(3 if options.short else 10):
        source.at_s = time.time()  # It has just counted.
        read_s.append(seconds(oracle.collector.read_all))
        first_s.append(seconds(lambda: ask(oracle, spread)))
    table.add_row("a round of reads", *in_ms(read_s), "")
    table.add_row("the first answer after it", *in_ms(first_s), "")
    age_s = ask(oracle, spread).age_s
    oldest_s = age_s + EVERY_S + float(np.median(read_s))
    table.add_row("age of the oldest value in an answer, right after a round", f"{age_s:.2f} s", "")
    table.add_row(
        f"the same before the next round, with one every {EVERY_S:g} s", f"{oldest_s:.1f} s", "60 s"
    )
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table.add_row("most memory of the process", f"{most_kib / 2**20:.2f} GiB", "")
    Console().print(table)
    write_tables(options.tables, table)
    return 0 if np.median(query_s) < QUERY_LIMIT_S else 1


def ask(oracle: Oracle, nodes: tuple[str, ...]) -> Answer:
    return oracle.ask(Question(nodes, window_s=600))


def times_s(work: Callable[[], object], repeats: int) -> list[float]:
    work()
    return [seconds(work) for _ in range(repeats)]


def seconds(work: Callable[[], object]) -> float:
    begun_s = time.perf_counter()
    work()
    return time.perf_counter() - begun_s


def in_ms(found_s: list[float]) -> tuple[str]:
    """Median, and the range of nine tenths."""
    low, median, high = 1e3 * np.quantile(found_s, [0.05, 0.5, 0.95])
    return (f"{median:.2f} ms [{low:.2f}, {high:.2f}]",)


if __name__ == "__main__":
    sys.exit(main())
