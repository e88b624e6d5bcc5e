# SPDX-License-Identifier: Apache-2.0
"""Every method's placement of a program, by both metrics."""

from __future__ import annotations

import fairlead as fl
from fairlead.decide.placement import DEFAULT_OBJECTIVE, METHODS, METRICS

BY_METRIC = [method for method in METHODS if method.startswith("scotch")]
BY_CHANCE = ("random", "scotch-intra", "scotch-inter")
"""Each of their runs has a placement of its own, since one draw would only describe itself."""


def _choices() -> dict[str, tuple[str, str, str]]:
    """Method, metric and objective of each name."""
    found = {}
    for method in METHODS:
        if method not in BY_METRIC:
            found[method] = (method, "bytes", DEFAULT_OBJECTIVE)
        if method in (*BY_METRIC, "optimize"):
            found |= {f"{method}, {metric}": (method, metric, "sum") for metric in METRICS}
    return found


CHOICES = _choices()
"""Scotch's methods minimise the sum of traffic times cost, by the metric in their name; `optimize`
does that as well, and once goes by the objective that it has by default."""


def candidates(
    traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster, repeats: int
) -> dict[str, list[fl.Placement]]:
    """Placements to be run in turns by the names of CHOICES, the launcher's first."""
    return {
        name: [
            fl.place(
                traffic, network, cluster, method, metric=metric, objective=objective, seed=seed
            )
            for seed in range(repeats if method in BY_CHANCE else 1)
        ]
        for name, (method, metric, objective) in CHOICES.items()
    }


def alike(found: dict[str, list[fl.Placement]]) -> dict[str, str]:
    """For each name the first one with the same placement: it need not be run twice."""
    first: dict[tuple[tuple[int, ...], ...], str] = {}
    names = {}
    for name, placements in found.items():
        key = tuple(tuple(placement.host_of_rank.tolist()) for placement in placements)
        # The launcher's own placement may differ from the same placement given to it.
        names[name] = name if name == "launcher" else first.setdefault(key, name)
    return names
