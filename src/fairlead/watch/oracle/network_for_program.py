# SPDX-License-Identifier: Apache-2.0
"""The network between the hosts of a running program, as others leave it."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.measure.oracle import MOST_SHARING_HOSTS, cost_network, interfaces
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.network import Network
from fairlead.watch.oracle.crossings import Crossings
from fairlead.watch.oracle.link_metrics import LinkMetrics
from fairlead.watch.oracle.oracle import Oracle, Question
from fairlead.watch.oracle.shared_links import shared_links

__all__ = ["network_for_program", "without_own"]

_OF_LINKS = {"bw": "used_ratio", "stalls": "stalled_ratio", "free_Bps": "free_Bps"}
"""Metrics that the program's own messages change, as attributes of LinkMetrics."""

Values = npt.NDArray[np.float64]


def network_for_program(
    oracle: Oracle,
    hosts: tuple[str, ...],
    between_bytes: Values,
    metric: str,
    window_s: float,
    *,
    has_links: bool,
) -> Network:
    """What a metric reports, less what the program does itself.

    Args:
        oracle: Is asked.
        hosts: Hosts of the program, length H.
        between_bytes: That the program now sends in one repeat, shape (H, H), [src, dst].
        metric: Metric of the oracle.
        window_s: Time window that ends now.
        has_links: Whether links that several pairs share are bottlenecks of their own.
    """
    metrics = tuple(dict.fromkeys(("hops", "capacity_Bps", metric)))
    values = {
        name: found.values
        for name, found in oracle.ask(Question(hosts, metrics, window_s=window_s)).metrics.items()
    }
    groups: list[BottleneckGroup] = []
    if len(hosts) <= MOST_SHARING_HOSTS:
        crossed = oracle.crossings(hosts)
        own_bytes: Values = np.bincount(
            crossed.link,
            between_bytes[crossed.src, crossed.dst],
            minlength=oracle.topology.links.num_links,
        ).astype(np.float64)  # whole numbers where no link is crossed
        links = without_own(oracle.links(window_s), own_bytes)
        if metric in _OF_LINKS:
            values[metric] = _along_routes(links, metric, crossed, values["hops"])
        if has_links:
            groups = shared_links(links, metric, crossed)
    at = oracle.topology.indices(hosts)
    nic_Bps = oracle.topology.nic_Bps
    nic_Bps = interfaces(None if nic_Bps is None else nic_Bps[at], len(hosts), groups)
    coordinates = oracle.topology.coordinates
    return dataclasses.replace(
        cost_network(hosts, metric, values[metric], values["hops"], values["capacity_Bps"]),
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps,
        groups=groups,
        coordinates=None if coordinates is None else coordinates[at],
    )


def without_own(found: LinkMetrics, own_bytes: Values) -> LinkMetrics:
    """What links would do without a program.

    Counters show what all programs send together, but this one sends the same with each repeat: the
    link that carries least for it shows how often, as the program is most nearly alone there. What
    packets wait for a link is shared out by the bytes. Without this a program that fills its links
    would move away from itself, again and again.

    Args:
        found: What links do.
        own_bytes: That a repeat sends over each link, shape (L,).
    """
    carried_Bps = found.used_ratio * found.capacity_Bps
    is_own = (own_bytes > 0) & (carried_Bps > 0)
    if not is_own.any():
        return found
    repeats_per_s = float((carried_Bps[is_own] / own_bytes[is_own]).min())
    others_ratio = np.ones(len(own_bytes))
    others_ratio[is_own] -= repeats_per_s * own_bytes[is_own] / carried_Bps[is_own]
    others_ratio = np.maximum(others_ratio, 0.0)  # rounding
    used_ratio = found.used_ratio * others_ratio
    return dataclasses.replace(
        found,
        used_ratio=used_ratio,
        stalled_ratio=found.stalled_ratio * others_ratio,
        free_Bps=found.capacity_Bps * (1 - used_ratio),
    )


def _along_routes(links: LinkMetrics, metric: str, crossed: Crossings, hops: Values) -> Values:
    """The fullest link of each pair's route, shape (H, H); `nan` where none is known."""
    worse = np.fmin if metric == "free_Bps" else np.fmax
    values = np.full(hops.shape, np.nan)
    of_link: Values = getattr(links, _OF_LINKS[metric])
    worse.at(values, (crossed.src, crossed.dst), of_link[crossed.link])
    nowhere = np.nan if metric == "free_Bps" else 0.0
    return np.where(hops > 0, values, nowhere)
