#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The evaluation of the paper CMPI again, item by item: MPICH2, the paper's algorithms, and ours.

Gong, He, Zhong: "Network performance aware MPI collective communication operations in the cloud",
TPDS 2015. The cloud is that of `rented.py`, which is drawn by what the paper's text has of EC2;
MPICH2 is that of `mpich2.cpp`; SimGrid judges. An improvement is how much less time than by MPICH2
is needed. `bench/papers cmpi-figure-6` runs an item and keeps what it gives.

python bench/collectives/cmpi_figures.py --item figure-6 --item figure-8    --short for seconds
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cmpi_items import days, headlines, operations, premise, programs, scale, trees
from cmpi_items.figures import Figure, table_of, write
from cmpi_items.options import Options
from rich.console import Console

ITEMS: dict[str, Callable[[Options], Iterator[Figure]]] = {
    "figure-2": premise.pair_distributions,
    "asymmetry": premise.asymmetry,
    "bands": premise.bands,
    "balance": premise.balance,
    "calibration": premise.calibration,
    "figure-5": premise.hierarchy,
    "figure-6": operations.by_size,
    "figure-7": operations.by_process,
    "figure-8": operations.by_cluster,
    "figure-9": trees.among_random_trees,
    "figure-10": days.over_two_days,
    "figure-11a": programs.cg_by_size,
    "figure-11b": programs.nbody_by_steps,
    "figure-11c": programs.nbody_by_message,
    "appendix-b-processes": scale.by_processes,
    "appendix-b-parameters": scale.by_parameters,
    "headlines": headlines.headlines,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--item", action="append", choices=ITEMS, help="default: all but headlines; repeatable"
    )
    parser.add_argument("--short", action="store_true", help="few hosts, small messages")
    parser.add_argument("--figures", type=Path, help="file for the figures, JSON; one item only")
    parser.add_argument("--clusters", type=int, default=100, help="of figure 8")
    parser.add_argument("--trees", type=int, default=10_000_000, help="of figure 9, each operation")
    parser.add_argument("--hours", type=int, default=48, help="of figure 10")
    parser.add_argument("--processes", type=int, default=2048, help="of appendix B, at most")
    parser.add_argument("--draws", type=int, default=1, help="clouds of figures 7, 11, appendix B")
    parser.add_argument(
        "--measured",
        type=Path,
        help="folder that keeps the single measurements of figures 8, 11 and appendix B, and has "
        "them read by the next run: remove it after a change of the sources",
    )
    asked = parser.parse_args()
    names = asked.item or [name for name in ITEMS if name != "headlines"]
    if asked.figures and len(names) != 1:
        parser.error("--figures: name one --item")
    with tempfile.TemporaryDirectory() as folder:
        options = Options(
            is_short=asked.short,
            folder=Path(folder),
            num_clusters=asked.clusters,
            num_trees=asked.trees,
            num_hours=asked.hours,
            most_ranks=asked.processes,
            num_draws=asked.draws,
            measured=asked.measured,
        )
        for name in names:
            figures = list(ITEMS[name](options))
            Console(width=140).print(table_of(name, figures))
            if asked.figures:
                write(figures, asked.figures)


if __name__ == "__main__":
    main()
