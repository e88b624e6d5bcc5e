# SPDX-License-Identifier: Apache-2.0
"""The gain of SPREAD's method: the paper's numbers, and how it is computed here."""

from __future__ import annotations

from collections.abc import Mapping

PAPER_GAINS = {
    "Synt_workload_1": 0.05,
    "Synt_workload_2": 0.08,
    "Synt_workload_3": 0.29,
    "Synt_workload_4": 0.91,
    "Real_workload_1": 0.11,
}
"""What the method saves of the waiting time of the best other one: "up to" in section 5.2, for the
synthetic workloads, where that is Cyclic; section 5.3 for the recorded one. The text has no number
for the others."""

BASELINES = ("blocked", "cyclic", "drb")


def gain(values: Mapping[str, float], method: str = "spread") -> float | None:
    """Fraction of the best baseline's value that the method saves; None without any waiting."""
    best = min(values[baseline] for baseline in BASELINES)
    return 1 - values[method] / best if best > 0 else None


def show(gained: float | None) -> str:
    """As a table shows it."""
    return "-" if gained is None else f"{gained:+.1%}"
