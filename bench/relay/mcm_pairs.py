# SPDX-License-Identifier: Apache-2.0
"""One pair after the other, by the MPI, by MCM's rule and by ours: what paths are worth alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from clouds import compiled, measured, run_in

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

RULES = ("mcm", "trials")


def rule_figures(*, is_short: bool) -> list[dict[str, Any]]:
    """Time of all pairs with each rule, as part of that by the MPI alone, in the same repeat."""
    hosts, repeats, rounds = (3, 2, 5) if is_short else (4, 6, 5)
    scenario = Scenario.load("pairwise", hosts).slower(10)
    ratios: dict[str, list[float]] = {rule: [] for rule in RULES}
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        argv = [str(compiled(Path(__file__).with_name("pingpong.c"), folder))]
        argv += [str(1 << 20), str(rounds)]
        network = measured(lab)
        for repeat in range(repeats):
            seconds = {}
            for way in ("direct", *RULES)[:: 1 if repeat % 2 else -1]:
                options = {} if way == "direct" else {"rule": way}
                work = folder / f"{repeat}-{way}"
                result = run_in(
                    lab, network, argv, hosts, work, with_relays=way != "direct", **options
                )
                seconds[way] = sum(_seconds(result["output"]))
            for rule in RULES:
                ratios[rule].append(seconds[rule] / seconds["direct"])
            print(repeat, *(f"{way} {time_s:.2f} s" for way, time_s in seconds.items()), flush=True)
    return [_figure(rule, values) for rule, values in ratios.items()]


def _seconds(output: str) -> list[float]:
    """A median of each pair."""
    return [float(line.split()[2]) for line in output.splitlines()]


def _figure(rule: str, values: list[float]) -> dict[str, Any]:
    mean = mean_interval(values)
    return {
        "name": f"all pairs in turn, by {rule}", "unit": "of the MPI's own time", "paper": None,
        "value": float(np.mean(values)), "low": mean.low, "high": mean.high,
        "samples": len(values),
    }  # fmt: skip
