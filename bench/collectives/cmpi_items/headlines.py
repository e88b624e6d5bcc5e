# SPDX-License-Identifier: Apache-2.0
"""The numbers of the abstract and the introduction, from the kept results of the items."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from cmpi_items.figures import Figure
from cmpi_items.operations import PERCENT
from cmpi_items.options import Options

RESULTS = Path(__file__).parents[2] / "results" / "papers"


def headlines(options: Options) -> Iterator[Figure]:
    """What the other items' figures make of them.

    Raises:
        SystemExit: An item has no kept result.
    """
    of_size = _kept("cmpi-figure-6")
    yield _renamed(of_size, "all four operations, CMPI", "collectives, as on EC2", 25.4)
    means = [
        figure.value
        for name, figure in of_size.items()
        if name.endswith(", CMPI, mean of the sizes")
    ]
    yield Figure("the operation that gains least, as on EC2", PERCENT, 13.5, min(means))
    yield Figure("the operation that gains most, as on EC2", PERCENT, 38.2, max(means))
    of_count = _kept("cmpi-appendix-b-processes")
    yield _renamed(of_count, "all numbers of processes, CMPI", "collectives, simulated", 28.3)
    means = [
        figure.value
        for name, figure in of_count.items()
        if name.endswith(" processes, CMPI, mean of the operations")
    ]
    yield Figure("least over 32 to 2,048 processes", PERCENT, 25.4, min(means))
    yield Figure("most over 32 to 2,048 processes", PERCENT, 31.2, max(means))
    largest_cg = _kept("cmpi-figure-11a")["51,200 unknowns, CMPI"]
    yield dataclasses.replace(largest_cg, name="CG", paper=41.6)
    largest_nbody = _kept("cmpi-figure-11b")["steps: 128, 1,000,000 bytes, CMPI"]
    yield dataclasses.replace(largest_nbody, name="N-body", paper=14.3)


def _kept(item: str) -> dict[str, Figure]:
    """The figures of an item by their names."""
    file = RESULTS / f"{item}.json"
    if not file.exists():
        raise SystemExit(f"{file} is missing: run bench/papers {item} first")
    return {figure["name"]: Figure(**figure) for figure in json.loads(file.read_text())["figures"]}


def _renamed(figures: dict[str, Figure], name: str, new_name: str, paper: float) -> Figure:
    return dataclasses.replace(figures[name], name=new_name, paper=paper)
