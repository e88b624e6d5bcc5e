# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 1 to 3: the network of four A7 instances over 24 hours, simulated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from clouds import A7, Cloud
from gains import figure

MINUTES, SHORT_MINUTES = 24 * 60, 6 * 60
NUM_HOSTS = 4
SHOWN_PAIRS = ((1, 2), (2, 3), (2, 4), (3, 4))
"""Four pairs of instances, numbered from 1; the text names (2,3), (2,4) and (3,4)."""

AT_H = {"07:00": 7.0, "13:00": 13.0, "19:00": 19.0}
UNITS = {"latency": "us", "bandwidth": "MB/s"}
Figures = list[dict[str, object]]
Values = npt.NDArray[np.float64]


def measured(short: bool) -> dict[str, Values]:
    """One-minute means of latency in us and bandwidth in MB/s, shape (minutes, 4, 4)."""
    cloud, noise = Cloud(A7, NUM_HOSTS), np.random.default_rng(1)
    networks = [cloud.at(m / 60, noise) for m in range(SHORT_MINUTES if short else MINUTES)]
    return {
        "latency": np.array([one.latency_s for one in networks]) * 1e6,
        "bandwidth": np.array([one.bandwidth_Bps for one in networks]) / 1e6,
    }


def figure_1(short: bool) -> Figures:
    """Each pair over the day: largest over least, both directions, and how long it holds."""
    rows = []
    for quantity, values in measured(short).items():
        for src, dst in SHOWN_PAIRS:
            forth, back = values[:, src - 1, dst - 1], values[:, dst - 1, src - 1]
            said = "4" if quantity == "latency" else "less than of the latency"
            name = f"{quantity}, pair ({src},{dst})"
            ratio = [hourly(one).max() / hourly(one).min() for one in (forth, back)]
            rows += [
                figure(f"{name}, largest / least", "x", [float(np.mean(ratio))], said),
                figure(f"{name}, median", UNITS[quantity], [float(np.median(forth))], None),
                figure(
                    f"{name}, back / forth", "x", [float(np.mean(back / forth))],
                    "1: the same in both directions",
                ),
                figure(f"{name}, stable for", "h", [stable_h(forth)], "some hours"),
            ]  # fmt: skip
    return rows


def hourly(values: Values) -> Values:
    """Means of ten minutes, so that the noise of a minute is not taken for a change."""
    return values[: len(values) // 10 * 10].reshape(-1, 10).mean(axis=1)


def stable_h(values: Values) -> float:
    """Median time between changes of more than a tenth."""
    steps = np.flatnonzero(np.abs(np.diff(np.log(hourly(values)))) > 0.1)
    ends = np.concatenate([[0], steps + 1, [len(values) // 10]])
    return float(np.median(np.diff(ends)) / 6)


def figure_2(short: bool) -> Figures:
    """Latency of all pairs at three times, and the place of pair (1,2) among them."""
    del short
    cloud, above = Cloud(A7, NUM_HOSTS), np.triu_indices(NUM_HOSTS, 1)
    rows, latencies = [], {}
    for at, hour in AT_H.items():
        latency_us = cloud.at(hour).latency_s * 1e6
        latencies[at] = latency_us[above]
        for src, dst in zip(*above, strict=True):
            name = f"{at}, pair ({src + 1},{dst + 1})"
            rows.append(figure(name, "us", [float(latency_us[src, dst])], None))
        spread = latency_us[above].max() / latency_us[above].min()
        rows.append(figure(f"{at}, slowest / fastest pair", "x", [float(spread)], "heterogeneous"))
    ranks = {at: int(np.argsort(np.argsort(values))[0]) + 1 for at, values in latencies.items()}
    for at, rank in ranks.items():
        said = {"07:00": "very fast", "13:00": "slowest of 6"}.get(at)
        rows.append(figure(f"{at}, place of pair (1,2) by latency", "of 6", [rank], said))
    return rows


def figure_3(short: bool) -> Figures:
    """A box for each pair: least, quartiles and most of its one-minute means."""
    rows = []
    for quantity, values in measured(short).items():
        medians = []
        for src, dst in zip(*np.triu_indices(NUM_HOSTS, 1), strict=True):
            five = np.quantile(values[:, src, dst], [0, 0.25, 0.5, 0.75, 1])
            medians.append(five[2])
            for name, value in zip(
                ("least", "lower quartile", "median", "upper quartile", "most"), five, strict=True
            ):
                title = f"{quantity}, pair ({src + 1},{dst + 1}), {name}"
                rows.append(figure(title, UNITS[quantity], [float(value)], None))
        ratio = float(max(medians) / min(medians))
        rows.append(
            figure(f"{quantity}, largest / least median", "x", [ratio], "relatively similar")
        )
    return rows
