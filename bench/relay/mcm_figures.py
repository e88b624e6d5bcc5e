#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MCM's figures 4 and 5: CG and a ping-pong of all pairs at once, directly and relayed.

16 hosts of an emulated cloud, CG as class B of NPB and 1 MiB between all pairs, both by the same
method, methods in turns. Items:

figure-4   the ping-pong: direct latency, and the best sum of two legs
figure-5   latencies of CG's own messages meanwhile
relayed    what the sums of legs promise, against what relaying gives
rule       all pairs alone, one after the other (pairs.py), by MCM's rule and ours

bench/relay/mcm_figures.py --item figure-4     some 15 minutes; --short for 4 hosts, one repeat

The first three share their runs: --measured FILE keeps them, and is read where it exists.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mcm_experiment import (
    CLASS_B,
    METHODS,
    PAIRS,
    SHORT_CG,
    Experiment,
    Message,
    best_legs_s,
    best_relays,
    experiment,
    legs_by,
    scenario,
)
from mcm_pairs import rule_figures
from rich.console import Console
from rich.table import Table

from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.flows.compare.statistics import mean_interval

PAPER_PAIRS = {(0, 1): (993.456, 867.081, 179.782), (7, 5): (897.992, 635.302, 119.81988),
               (2, 0): (200.403, None, 192.72995)}  # fmt: skip
"""Section 4: ms of the ping-pong, of the two legs that it names, and of CG's message."""

PAPER_SAVED: dict[tuple[int, int], float | str] = {
    (0, 1): 12.7, (7, 5): 29.26, (2, 0): "no better path",
}  # fmt: skip
"""Percent."""

Figure = dict[str, Any]


def main() -> None:
    options = parsed()
    if options.item == "rule":
        figures = rule_figures(is_short=options.short)
    else:
        figures = ITEMS[options.item](measurement(options))
    Console(width=120).print(table_of(options.item, figures))
    if options.figures is not None:
        write_text(options.figures, json.dumps(figures))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--item", choices=[*ITEMS, "rule"], default="figure-4")
    parser.add_argument(
        "--short", action="store_true", help="4 hosts, one repeat, one round, less CG"
    )
    parser.add_argument("--figures", type=Path, help="write the figures there, as JSON")
    parser.add_argument("--measured", type=Path, help="the runs, written where it is missing")
    parser.add_argument("--pairs", choices=list(PAIRS), default="even", help="their rates")
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.short:
        options.hosts, options.repeats, options.rounds = 4, 1, 1
    return options


def measurement(options: argparse.Namespace) -> Experiment:
    if options.measured is not None and options.measured.exists():
        return read_json(options.measured, Experiment)
    with tempfile.TemporaryDirectory() as name:
        cloud = scenario(options.hosts, options.pairs)
        cg = SHORT_CG if options.short else CLASS_B
        found = experiment(cloud, options.repeats, options.rounds, Path(name), cg)
    if options.measured is not None:
        write_text(options.measured, found.model_dump_json())
    return found


def figure_4(found: Experiment) -> list[Figure]:
    """The ping-pong of all pairs."""
    direct_s = of_repeats(found, "direct")
    legs_s = np.array([best_legs_s(one) for one in direct_s])
    figures = []
    for src, dst in pairs_here(found):
        paper_ms, paper_legs_ms, _ = PAPER_PAIRS[src, dst]
        name = f"node {src} to {dst}"
        figures += [
            figure(f"{name}, direct", "ms", paper_ms, 1e3 * direct_s[:, src, dst]),
            figure(f"{name}, best two legs added", "ms", paper_legs_ms, 1e3 * legs_s[:, src, dst]),
            figure(f"{name}, best two legs added", "% less than direct", PAPER_SAVED[src, dst],
                   saved_percent(legs_s, direct_s, src, dst)),
        ]  # fmt: skip
    is_pair = ~np.eye(found.num_hosts, dtype=bool)
    is_less = (legs_s < direct_s)[:, is_pair]
    figures.append(
        figure("pairs whose best two legs take less", "% of all pairs", None,
               100 * is_less.mean(axis=1))
    )  # fmt: skip
    return figures


def figure_5(found: Experiment) -> list[Figure]:
    """CG's own messages, while all pairs play ping-pong."""
    figures = []
    # With fewer ranks the grid of CG has other neighbours.
    of_cg = {(each.src, each.dst) for run in runs_of(found, "direct") for each in run.messages}
    for src, dst in (pair for pair in pairs_here(found) if pair in of_cg):
        for method in METHODS:
            of_pair = [
                mean_ms([each for each in run.messages if (each.src, each.dst) == (src, dst)])
                for run in runs_of(found, method)
            ]
            paper = PAPER_PAIRS[src, dst][2] if method == "direct" else None
            figures.append(figure(f"node {src} to {dst}, {method}", "ms", paper, of_pair))
    for method in METHODS:
        figures.append(
            figure(f"all pairs of CG, {method}", "ms", None, pairs_ms(found, method))
        )  # fmt: skip
    return figures


def relayed(found: Experiment) -> list[Figure]:
    """The promise of added legs, and what relaying gives on the same pairs, at the same load."""
    calibration_s = np.array(found.calibration_s)
    legs_s = best_legs_s(calibration_s)
    is_promised = legs_s < calibration_s
    np.fill_diagonal(is_promised, False)
    direct_s = of_repeats(found, "direct")
    figures = []
    if is_promised.any():
        # Saved part of the sums, not of the pairs, as with what relays give.
        promised = 100 * (1 - legs_s[is_promised].sum() / calibration_s[is_promised].sum())
        later_s = legs_by(best_relays(calibration_s), direct_s)
        figures += [
            exact("pairs with less by two legs, promised", "% less than direct", None,
                  float(promised), int(is_promised.sum())),
            figure("the same pairs and legs, added up again in later runs", "% less than direct",
                   None, percent_less(later_s[:, is_promised], direct_s[:, is_promised])),
        ]  # fmt: skip
    for method in METHODS[1:]:
        relayed_s = of_repeats(found, method)
        if is_promised.any():
            figures.append(
                figure(f"the same pairs, relayed by {method}", "% less than direct", None,
                       percent_less(relayed_s[:, is_promised], direct_s[:, is_promised]))
            )  # fmt: skip
        for src, dst in pairs_here(found):
            figures.append(
                figure(f"node {src} to {dst}, by {method}", "% less than direct",
                       PAPER_SAVED[src, dst] if method == "mcm" else None,
                       saved_percent(relayed_s, direct_s, src, dst))
            )  # fmt: skip
        figures += [
            figure(f"all pairs, by {method}", "% less than direct", None,
                   percent_less(relayed_s, direct_s)),
            figure(f"CG's messages, by {method}", "% less than direct", None,
                   messages_percent(found, method)),
            figure(f"bytes by third hosts, of those by routers, {method}", "%", None,
                   [100 * run.relayed_ratio for run in runs_of(found, method)]),
        ]  # fmt: skip
    return figures


ITEMS = {"figure-4": figure_4, "figure-5": figure_5, "relayed": relayed}


def runs_of(found: Experiment, method: str) -> list[Any]:
    return [runs[METHODS.index(method)] for runs in found.repeats]


def of_repeats(found: Experiment, method: str) -> np.ndarray:
    """The ping-pong's seconds, [repeat, src, dst]."""
    return np.array([run.pingpong_s for run in runs_of(found, method)])


def pairs_here(found: Experiment) -> list[tuple[int, int]]:
    return [pair for pair in PAPER_PAIRS if max(pair) < found.num_hosts]


def saved_percent(ours_s: np.ndarray, direct_s: np.ndarray, src: int, dst: int) -> np.ndarray:
    return 100 * (1 - ours_s[:, src, dst] / direct_s[:, src, dst])


def percent_less(ours_s: np.ndarray, direct_s: np.ndarray) -> np.ndarray:
    """Percent less than the direct mean of all pairs, in each repeat."""
    axes = tuple(range(1, ours_s.ndim))
    return 100 * (1 - ours_s.mean(axis=axes) / direct_s.mean(axis=axes))


def messages_percent(found: Experiment, method: str) -> list[float]:
    repeats = zip(pairs_ms(found, method), pairs_ms(found, "direct"), strict=True)
    return [100 * (1 - one_ms / other_ms) for one_ms, other_ms in repeats]


def pairs_ms(found: Experiment, method: str) -> list[float]:
    """In each repeat, the mean of the pairs' means: fast pairs send more messages meanwhile.

    Of the pairs that send some in all runs.
    """
    means_ms = [means_of_pairs(run.messages) for runs in found.repeats for run in runs]
    pairs = set.intersection(*(set(each) for each in means_ms))
    return [
        float(np.mean([means_of_pairs(run.messages)[pair] for pair in pairs])) if pairs else np.nan
        for run in runs_of(found, method)
    ]


def means_of_pairs(messages: Sequence[Message]) -> dict[tuple[int, int], float]:
    of_pair: dict[tuple[int, int], list[Message]] = {}
    for each in messages:
        of_pair.setdefault((each.src, each.dst), []).append(each)
    return {pair: mean_ms(found) for pair, found in of_pair.items()}


def mean_ms(messages: Sequence[Message]) -> float:
    return 1e3 * float(np.mean([each.seconds for each in messages])) if messages else np.nan


def figure(name: str, unit: str, paper: float | str | None, samples: Sequence[float]) -> Figure:
    """The mean of the repeats, with its interval where there are several."""
    known = [float(value) for value in samples if np.isfinite(value)]
    if not known:
        raise SystemExit(f"{name}: no sample; more rounds are needed")
    mean = mean_interval(known) if len(known) > 1 else None
    return {
        "name": name, "unit": unit, "paper": paper, "value": float(np.mean(known)),
        "low": mean.low if mean else None, "high": mean.high if mean else None,
        "samples": len(known),
    }  # fmt: skip


def exact(name: str, unit: str, paper: float | None, value: float, samples: int) -> Figure:
    return {"name": name, "unit": unit, "paper": paper, "value": value, "low": None, "high": None,
            "samples": samples}  # fmt: skip


def table_of(item: str, figures: Sequence[Figure]) -> Table:
    table = Table("figure", "unit", "paper", "here", "runs", title=f"MCM, {item}")
    for each in figures:
        here = f"{each['value']:.1f}"
        if each["low"] is not None:
            here += f" [{each['low']:.1f}, {each['high']:.1f}]"
        paper = each["paper"]
        if not isinstance(paper, str):
            paper = "-" if paper is None else f"{paper:.1f}"
        table.add_row(each["name"], each["unit"], paper, here, str(each["samples"]))
    return table


if __name__ == "__main__":
    main()
