#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and accuracy of the probe in the emulated cloud.

Time: `--quick` on 8 and 32 hosts, next to CloudMap's figures (table II: 0.69 s and 1.67 s).
Accuracy: the deviation of each directed pair from the rate that the lab shapes it to. Scenarios
alternate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from probing import parsed, parser_of, probed
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.model.network import Network

PAPER_S = {8: 0.69, 32: 1.67}


def main() -> None:
    parser = parser_of(__doc__, short="1 repeat, 8 hosts, quick and pairwise only")
    parser.add_argument("--repeats", type=int, default=10)
    options = parsed(parser)
    repeats = 1 if options.short else options.repeats
    scenarios = ["pairwise"] if options.short else options.scenarios
    print_times((8,) if options.short else tuple(PAPER_S), scenarios, repeats)
    print_accuracy("quick", scenarios, repeats)
    if not options.short:
        print_accuracy("full", scenarios, 1)


def print_times(sizes: tuple[int, ...], scenarios: list[str], repeats: int) -> None:
    table = Table(title=f"fairlead probe --quick, mean of {repeats} runs [95 % interval]")
    for column in ("hosts", "scenario", "probing", "launch", "paper"):
        table.add_column(column, justify="left" if column == "scenario" else "right")
    for num_hosts in sizes:
        for scenario in scenarios:
            networks = [network for network, _ in measure(scenario, num_hosts, "quick", repeats)]
            cells = [
                interval([network.origin["probing_s"] for network in networks], "s"),
                interval([network.launch_s or 0.0 for network in networks], "s"),
            ]
            table.add_row(str(num_hosts), scenario, *cells, f"{PAPER_S[num_hosts]:.2f} s")
    Console().print(table)


def print_accuracy(mode: str, scenarios: list[str], repeats: int) -> None:
    """Errors are medians over the pairs of one run; two-racks is compared alone, pair by pair."""
    table = Table(title=f"--{mode}, 8 hosts: deviation from the shaped rate, {repeats} runs")
    for column in ("scenario", "median error", "90 % of pairs", "bias", "rank agreement", "time"):
        table.add_column(column, justify="left" if column == "scenario" else "right")
    for scenario in scenarios:
        runs = measure(scenario, 8, mode, repeats)
        deviations = [deviation(network, shaped) for network, shaped in runs]
        table.add_row(
            scenario,
            interval([float(100 * np.median(np.abs(pairs))) for pairs in deviations], "%"),
            interval([float(100 * np.quantile(np.abs(pairs), 0.9)) for pairs in deviations], "%"),
            interval([float(100 * np.median(pairs)) for pairs in deviations], "%"),
            agreement(runs),
            interval([network.origin["probing_s"] for network, _ in runs], "s"),
        )
    Console().print(table)


def measure(
    scenario: str, num_hosts: int, mode: str, repeats: int
) -> list[tuple[Network, npt.NDArray[np.float64]]]:
    """Measured networks, each with the shaped rates in the same order."""
    with Lab.up(scenario, hosts=num_hosts) as lab:
        return [(probed(lab, [f"--{mode}"]), lab.shaped_Bps()) for _ in range(repeats)]


def deviation(network: Network, shaped_Bps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    off = ~np.eye(network.num_hosts, dtype=bool)
    deviations = network.bandwidth_Bps[off] / shaped_Bps[off] - 1
    return np.asarray(deviations[np.isfinite(deviations)])


def agreement(runs: list[tuple[Network, npt.NDArray[np.float64]]]) -> str:
    """Spearman's rank correlation of measured and shaped rates; "-" where all are shaped alike."""
    off = ~np.eye(runs[0][0].num_hosts, dtype=bool)
    if len(np.unique(runs[0][1][off])) == 1:
        return "-"
    return interval(
        [
            float(spearmanr(network.bandwidth_Bps[off], shaped[off], nan_policy="omit").statistic)
            for network, shaped in runs
        ],
        "",
    )


def interval(values: list[float], unit: str) -> str:
    mean = mean_interval(values)
    if len(values) == 1:
        return f"{mean.value:.3g} {unit}"
    return f"{mean.value:.3g} {unit} [{mean.low:.3g}, {mean.high:.3g}]"


if __name__ == "__main__":
    main()
