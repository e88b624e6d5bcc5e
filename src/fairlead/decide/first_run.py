# SPDX-License-Identifier: Apache-2.0
"""What relays are expected to save in a first run, of whose program nothing is known yet."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.decide.host_paths import (
    MARGIN_RATIO,
    MESSAGE_BYTES,
    faster_relays,
    several_connections_pairs,
)
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable

__all__ = ["LEAST_SAVING", "FirstSaving", "expect_first_saving", "sure_pairs"]

LEAST_SAVING = 0.1
"""Relays start without a rehearsal where rates alone promise this much: five times what the rule of
later runs needs, since which pairs the program uses is not known."""


@dataclasses.dataclass(frozen=True)
class FirstSaving:
    """What rates alone say of relays.

    Attributes:
        ratio: Part of the time that a message of 1 MiB from each host to each other one takes.
        num_pairs: Pairs of hosts on which something is faster.
    """

    ratio: float
    num_pairs: int


def sure_pairs(
    rates_Bps: npt.NDArray[np.float64], is_measured: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Pairs that long trains have measured, and those that do not differ from one of them.

    Args:
        rates_Bps: Rates of all pairs, without noise, shape (H, H).
        is_measured: Which were measured by long trains, shape (H, H).
    """
    is_pair = ~np.eye(len(rates_Bps), dtype=bool)
    is_sure = is_measured & is_pair
    for rate_Bps in np.unique(rates_Bps[is_sure]):
        is_alike = (rates_Bps < MARGIN_RATIO * rate_Bps) & (MARGIN_RATIO * rates_Bps > rate_Bps)
        is_sure = is_sure | (is_alike & is_pair)
    return is_sure


def expect_first_saving(
    network: Network, table: PathTable, is_sure: npt.NDArray[np.bool_]
) -> FirstSaving:
    """What the best single relay of each pair saves, or several connections.

    Only what no other pair can undo counts, as nothing is rehearsed. Several paths of a pair may
    share a bottleneck, and so may several connections of a pair that is slower than others of its
    hosts: it may be the uplink of a rack. One path that is faster goes around it, and connections
    of a pair that is as fast as any are limited one by one.

    Args:
        network: The network without its noise.
        table: Its paths.
        is_sure: Pairs that count, shape (H, H): a quick probe takes pairs of a busy machine for
            slow ones.
    """
    is_pair = ~np.eye(network.num_hosts, dtype=bool)
    direct_s = np.zeros(is_pair.shape)
    for path in table.paths:
        if path.is_direct:
            direct_s[path.src, path.dst] = path.transfer_s(MESSAGE_BYTES)
    best_s = direct_s.copy()
    for path in faster_relays(table):
        pair = (path.src, path.dst)
        if is_sure[pair]:
            best_s[pair] = min(best_s[pair], path.transfer_s(MESSAGE_BYTES))
    rates_Bps = np.where(is_pair, network.bandwidth_Bps, 0.0)
    fastest_Bps = np.minimum(rates_Bps.max(axis=1)[:, None], rates_Bps.max(axis=0)[None, :])
    for src, dst in several_connections_pairs(network, table):
        if is_sure[src, dst] and MARGIN_RATIO * rates_Bps[src, dst] >= fastest_Bps[src, dst]:
            seconds = network.latency_s[src, dst] + MESSAGE_BYTES / table.capacity_Bps[src][dst]
            best_s[src, dst] = min(best_s[src, dst], seconds)
    whole_s = float(direct_s.sum())
    ratio = 1 - float(best_s.sum()) / whole_s if whole_s > 0 else 0.0
    return FirstSaving(ratio, int(np.count_nonzero(best_s < direct_s)))
