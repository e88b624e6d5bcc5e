#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the probe of a sample, against the number of pairs that it measures.

Simulated clusters have hidden racks, slow hosts, asymmetry and noise (`clusters.py`); errors are
against what is true there. Recorded ones were measured whole in the emulated cloud (`recorded/`);
errors are against that measurement. All errors are those of the pairs that were not measured, as
ratios |log(estimate / truth)|. Compared with ours: as many uniformly random pairs, filled with
their median ("median"), and completed by alternating least squares ("low rank").
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from clusters import CLOUDS, draw
from low_rank import fit_low_rank, predict_low_rank
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from fairlead.flows.compare.statistics import mean_interval
from fairlead.measure.sampling import SampleDesign
from fairlead.measure.sampling.estimation import Estimate
from fairlead.measure.sampling.rounds import measure_in_batches
from fairlead.model.network import Network

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RECORDED = Path(__file__).with_name("recorded")
SIZES = (32, 64, 128, 256, 512, 1024)
LOW_RANK = 2
MAX_RANKED_PAIRS = 50_000
# Independent of their hosts, pairs scatter by 0.1 per pair and 0.1 per direction, with median
# 0.095.
TARGET_RATIO = 0.15
CONSOLE = Console(width=160)


class Case(NamedTuple):
    """A cluster of which everything is known: the truth, and what measuring it finds."""

    truth: Network
    measured: Network
    same_rack: Mask | None


class Score(NamedTuple):
    """Accuracy of one estimator on the pairs that were not measured."""

    latency_median: float
    latency_90: float
    bandwidth_median: float
    bandwidth_90: float
    same_rack_median: float
    rank_agreement: float


class Point(NamedTuple):
    """One number of probes: ours, the baselines, and what the error bars hold."""

    num_pairs: int
    share_ratio: float
    ours: Score
    median: Score
    low_rank: Score
    coverage: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="32 hosts, a seed")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--clouds", nargs="*", default=list(CLOUDS), help=f"of {', '.join(CLOUDS)}; none: recorded"
    )
    options = parser.parse_args()
    sizes = [32] if options.short else options.sizes
    seeds = 1 if options.short else options.seeds
    for cloud in options.clouds:
        curves = {size: simulated(cloud, size, seeds) for size in sizes}
        print_growth(cloud, curves)
    recorded_seeds = seeds if options.short else max(seeds, 2)
    for path in sorted(RECORDED.glob("*.net.npz")):
        network = Network.load(path)
        case = Case(network, network, None)
        title = f"{path.name.removesuffix('.net.npz')}, recorded, {network.num_hosts} hosts"
        print_curve(title, [curve(case, seed) for seed in range(recorded_seeds)])


def simulated(cloud: str, num_hosts: int, seeds: int) -> list[list[Point]]:
    curves = []
    for seed in range(seeds):
        drawn = draw(CLOUDS[cloud], num_hosts, seed)
        hosts = [f"n{host}" for host in range(num_hosts)]
        truth = Network(hosts, drawn.latency_s, drawn.bandwidth_Bps)
        measured = Network(hosts, drawn.measured_latency_s, drawn.measured_bandwidth_Bps)
        curves.append(curve(Case(truth, measured, drawn.rack[:, None] == drawn.rack), seed))
    print_curve(f"{cloud}, simulated, {num_hosts} hosts", curves)
    return curves


def curve(case: Case, seed: int) -> list[Point]:
    """The points of one run that goes on to its last batch."""
    points: list[Point] = []
    begin_s = time.process_time()

    def add(asked: Mask, estimates: Sequence[Estimate]) -> None:
        nonlocal begin_s
        seconds = time.process_time() - begin_s
        points.append(point(case, asked, estimates, seed, seconds))
        begin_s = time.process_time()

    # Neither end is ever reached: all batches are measured.
    plan = SampleDesign(error_bar_ratio=1e-9, min_gain_ratio=-math.inf, seed=seed)
    asked = np.zeros(case.truth.latency_s.shape, dtype=bool)

    def measure(pairs: Mask, share_ratio: float) -> Network:
        del share_ratio
        asked[pairs] = True
        return masked(case.measured, asked)

    measure_in_batches(plan, case.truth.num_hosts, measure, add)
    return points


def masked(network: Network, asked: Mask) -> Network:
    keep = asked | np.eye(network.num_hosts, dtype=bool)
    return dataclasses.replace(
        network,
        latency_s=np.where(keep, network.latency_s, np.nan),
        bandwidth_Bps=np.where(keep, network.bandwidth_Bps, np.nan),
    )


def point(
    case: Case, asked: Mask, estimates: Sequence[Estimate], seed: int, seconds: float
) -> Point:
    others = ~asked & ~np.eye(len(asked), dtype=bool)
    others &= np.isfinite(case.truth.bandwidth_Bps) & np.isfinite(case.truth.latency_s)
    truths = logarithms(case.truth)
    held = [
        np.abs(found.values - truth)[others] <= found.bar[others]
        for found, truth in zip(estimates, truths, strict=True)
    ]
    num_pairs = int(asked.sum()) // 2
    random = random_pairs(len(asked), num_pairs, seed)
    rest = ~random & np.isfinite(truths[0])
    known = [np.where(random, part, np.nan) for part in logarithms(case.measured)]
    plain = [np.full_like(part, np.nanmedian(part)) for part in known]
    return Point(
        num_pairs,
        2 * num_pairs / (len(asked) * (len(asked) - 1)),
        score(case, [found.values for found in estimates], others),
        score(case, plain, rest),
        score(case, [low_rank(part) for part in known], rest),
        float(np.mean(held)),
        seconds,
    )


def logarithms(network: Network) -> list[Matrix]:
    """Logarithms of latency and bandwidth; `nan` on the diagonal and where unknown."""
    off = ~np.eye(network.num_hosts, dtype=bool)
    return [
        np.log(matrix, where=off & np.isfinite(matrix), out=np.full_like(matrix, np.nan))
        for matrix in (network.latency_s, network.bandwidth_Bps)
    ]


def random_pairs(num_hosts: int, num_pairs: int, seed: int) -> Mask:
    low, high = np.triu_indices(num_hosts, 1)
    drawn = np.random.default_rng(seed).permutation(len(low))[:num_pairs]
    mask = np.zeros((num_hosts, num_hosts), dtype=bool)
    mask[low[drawn], high[drawn]] = mask[high[drawn], low[drawn]] = True
    return mask


def low_rank(known: Matrix) -> Matrix:
    num_hosts = len(known)
    src, dst = np.nonzero(np.isfinite(known))
    model = fit_low_rank(src, dst, known[src, dst], num_hosts, LOW_RANK)
    return predict_low_rank(model, *np.divmod(np.arange(num_hosts**2), num_hosts)).reshape(
        known.shape
    )


def score(case: Case, estimates: Sequence[Matrix], others: Mask) -> Score:
    truths = logarithms(case.truth)
    latency, bandwidth = (
        np.abs(estimate - truth) for estimate, truth in zip(estimates, truths, strict=True)
    )
    near = others & (False if case.same_rack is None else case.same_rack)
    pairs = np.argwhere(others)
    chosen = np.random.default_rng(0).permutation(len(pairs))[:MAX_RANKED_PAIRS]
    src, dst = pairs[chosen].T
    guess, truth = estimates[1][src, dst], truths[1][src, dst]
    # One value for all pairs ranks nothing.
    agreement = float(spearmanr(guess, truth).statistic) if np.ptp(guess) > 0 else 0.0
    return Score(
        float(np.median(latency[others])),
        float(np.quantile(latency[others], 0.9)),
        float(np.median(bandwidth[others])),
        float(np.quantile(bandwidth[others], 0.9)),
        float(np.median(bandwidth[near])) if near.any() else math.nan,
        agreement,
    )


def print_curve(title: str, curves: Sequence[Sequence[Point]]) -> None:
    table = Table(title=f"{title}: mean of {len(curves)} runs [95 % interval]")
    for column in ("pairs", "share", "way", "latency", "90 %", "bandwidth", "90 %", "same rack"):
        table.add_column(column, justify="left" if column == "way" else "right", no_wrap=True)
    for column in ("rank agreement", "in error bar", "estimated in"):
        table.add_column(column, justify="right", no_wrap=True)
    points_of_size = defaultdict(list)
    for run in curves:
        for found in run:
            points_of_size[found.num_pairs].append(found)
    for num_pairs, points in sorted(points_of_size.items()):
        for way in ("ours", "low_rank", "median"):
            scores = [getattr(found, way) for found in points]
            own = way == "ours"
            table.add_row(
                str(num_pairs) if own else "",
                f"{points[0].share_ratio:.1%}" if own else "",
                way.replace("_", " "),
                *(interval([s[field] for s in scores], 100, " %") for field in range(5)),
                interval([s.rank_agreement for s in scores], 1, ""),
                interval([found.coverage for found in points], 100, " %") if own else "",
                f"{np.mean([found.seconds for found in points]):.1f} s" if own else "",
            )
        table.add_section()
    CONSOLE.print(table)


def print_growth(cloud: str, curves: dict[int, list[list[Point]]]) -> None:
    """Pairs until the median error of bandwidth is small: of all pairs, and of those in a rack."""
    table = Table(title=f"{cloud}: pairs until the median bandwidth error is {TARGET_RATIO:.0%}")
    for column in (
        "hosts",
        "all pairs",
        "of H log2 H",
        "share",
        "in a rack",
        "of H log2 H",
        "share",
    ):
        table.add_column(column, justify="right")
    for num_hosts, runs in curves.items():
        cells = []
        for field in ("bandwidth_median", "same_rack_median"):
            needed = [first_below(points, field) for points in runs]
            if None in needed:
                cells += [f"not within {max(p.num_pairs for p in runs[0])}", "", ""]
                continue
            mean = float(np.mean([pairs for pairs in needed if pairs is not None]))
            cells += [
                f"{mean:.0f}",
                f"{mean / (num_hosts * math.log2(num_hosts)):.2f}",
                f"{2 * mean / (num_hosts * (num_hosts - 1)):.1%}",
            ]
        table.add_row(str(num_hosts), *cells)
    CONSOLE.print(table)


def first_below(points: Sequence[Point], field: str) -> int | None:
    """Pairs of the first batch from which on the error stays small; None where there is none."""
    found = None
    for known in reversed(points):
        if getattr(known.ours, field) > TARGET_RATIO:
            break
        found = known.num_pairs
    return found


def interval(values: Sequence[float], factor: float, unit: str) -> str:
    if np.isnan(values).any():
        return "-"
    mean = mean_interval([factor * value for value in values])
    digits = 1 if factor > 1 else 2
    if len(values) == 1:
        return f"{mean.value:.{digits}f}{unit}"
    return f"{mean.value:.{digits}f}{unit} ±{mean.high - mean.value:.{digits}f}"


if __name__ == "__main__":
    main()
