# SPDX-License-Identifier: Apache-2.0
"""Links that several pairs of hosts share, as bottlenecks of a network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.watch.oracle.crossings import Crossings
from fairlead.watch.oracle.link_metrics import LinkMetrics

__all__ = ["shared_links"]

LEAST_SHARE = 0.1
"""Least share of a link for a program: messages that join others on a full link get some of it."""

Values = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]


def shared_links(links: LinkMetrics, metric: str, crossed: Crossings) -> list[BottleneckGroup]:
    """The links that several pairs share, with what is left of each by a metric.

    Of links one after another on the same routes the one counts that has least left.

    Args:
        links: What they do.
        metric: Metric of the oracle; those that say nothing of a link's load leave all of it.
        crossed: By which pairs of hosts.
    """
    left_Bps = _left_Bps(links, metric).tolist()
    least: dict[bytes, tuple[float, Pairs]] = {}
    for link, pairs in crossed.pairs_of_links():
        if len(pairs) > 1 and np.isfinite(left_Bps[link]):
            same = pairs.tobytes()
            if same not in least or left_Bps[link] < least[same][0]:
                least[same] = left_Bps[link], pairs
    return [BottleneckGroup(pairs, left) for left, pairs in least.values()]


def _left_Bps(links: LinkMetrics, metric: str) -> Values:
    busy_ratio = {
        "bw": links.used_ratio,
        "stalls": links.stalled_ratio,
        "free_Bps": 1 - links.free_Bps / links.capacity_Bps,
    }.get(metric, np.zeros_like(links.capacity_Bps))
    left_ratio: Values = np.clip(1 - np.nan_to_num(busy_ratio), LEAST_SHARE, 1)
    return links.capacity_Bps * left_ratio
