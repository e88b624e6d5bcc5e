#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far were the predicted times of schedules off? The kept figures of `lab.py` against them.

For each tuned call in `bench/results/collectives-*/tuned.json`, the measured ratio of the
schedule's time to the MPI's is divided by the predicted ratio. The prediction knows what a probe of
single pairs finds in the cloud, so no shared uplinks; the MPI's time is predicted by the textbook
algorithm. It prints for each operation and method the median of these factors, nine of ten and the
largest, with what `src/fairlead/decide/collectives/untimed.py` takes for it.

python bench/collectives/predicted.py     a second; no network, no MPI
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import fairlead as fl
from fairlead.decide.collectives.catalogue import VARIANTS
from fairlead.decide.collectives.untimed import predict_native, predict_schedule, shown_error
from fairlead.lab import Scenario
from fairlead.lab.topology import draw_topology
from fairlead.units import parse_duration, parse_size

RESULTS = Path(__file__).resolve().parents[1] / "results"
LATENCY_S = 1e-4
"""What one byte takes between processes of two hosts of the lab, about."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the calls of bcast alone")
    is_short = parser.parse_args().short
    factors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for scenario, operation, size, native_s, tuned_s, method in kept_times():
        if method == "native" or (is_short and operation != "bcast"):
            continue
        network, placement = cloud(scenario)
        predicted_native_s = predict_native(operation, size, network, placement)
        schedule = predict_schedule(operation, size, network, placement, method)
        predicted_ratio = schedule.predicted_s / predicted_native_s
        kind = operation, VARIANTS.get(method, method)
        factors[kind].append(tuned_s / native_s / predicted_ratio)
    for (operation, method), found in sorted(factors.items()):
        middle, most, largest = np.quantile(found, [0.5, 0.9, 1.0])
        print(
            f"{operation} by {method}: {len(found)} calls, factor {middle:.2f}, nine of ten up to "
            f"{most:.2f}, all up to {largest:.2f}; taken for {shown_error(operation, method):g}"
        )


def kept_times() -> Iterator[tuple[str, str, int, float, float, str]]:
    """Scenario, operation, size, seconds by the MPI and as tuned, and by which method."""
    for file in sorted(RESULTS.glob("collectives-*/tuned.json")):
        for table in json.loads(file.read_text())["tables"]:
            scenarios = [re.findall("`(.*)`", name) for name in table["columns"]]
            for row in table["rows"]:
                operation, size = row[0].split(" ", 1)
                for (scenario, *_), cell in zip(scenarios[1:], row[1:], strict=True):
                    found = re.fullmatch(r"(.*?), (?:(.*) )?(\w+)", cell)
                    if found is None or found[3] == "timed":
                        continue
                    native_s = parse_duration(found[1].replace(" ", ""))
                    tuned_s = parse_duration((found[2] or found[1]).replace(" ", ""))
                    yield scenario, operation, parse_size(size), native_s, tuned_s, found[3]


def cloud(scenario: str) -> tuple[fl.Network, fl.Placement]:
    """What a probe finds in the cloud of `lab.py`, and where its 16 ranks are."""
    drawn = draw_topology(Scenario.load(scenario))
    apart = ~np.eye(drawn.num_hosts, dtype=bool)
    network = fl.Network(
        drawn.hosts, np.where(apart, LATENCY_S + drawn.delay_s, 0.0), drawn.shaped_Bps()
    )
    return network, fl.Placement(drawn.hosts, np.repeat(np.arange(8), 2), method="launcher")


if __name__ == "__main__":
    main()
