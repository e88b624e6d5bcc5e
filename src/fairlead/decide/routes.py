# SPDX-License-Identifier: Apache-2.0
"""Finds the ways around slow pairs of hosts."""

from __future__ import annotations

import numpy as np

from fairlead.model.network import Matrix, Network
from fairlead.model.path_table import PathTable, Route

__all__ = ["DEFAULT_MAX_RELAYS", "faster_pairs", "path_table"]

DEFAULT_MAX_RELAYS = 3
"""Relayed routes of a pair: more share the same interfaces and add little."""

MESSAGE_BYTES = float(1 << 20)
"""Size for which routes are compared, that of MCM's experiment."""

HOP_S = 50e-6
"""What a router is assumed to add to the latency of a path."""

_MARGIN_RATIO = 1.1
"""Paths together must be expected to be faster than the direct one by this, as in the program
(mpi/intercept/relay/messenger/way_choice.hpp)."""

_WORST_RATIO = 4.0
"""A route that takes longer than the direct one by this is no help as a stripe either."""

_FASTEST_BPS = 1e12
"""For pairs that nothing limits."""


def path_table(network: Network, max_relays: int = DEFAULT_MAX_RELAYS) -> PathTable:
    """The direct route of each pair, and its best ones with one relay.

    Args:
        network: All pairs measured.
        max_relays: Relayed routes of a pair at most.

    Raises:
        TopologyError: A pair was not measured.
    """
    network.pair_costs("bytes")  # refuses what was not measured
    num_hosts = network.num_hosts
    routes: list[Route] = []
    for src in range(num_hosts):
        for dst in range(num_hosts):
            if src != dst:
                routes += _routes(network, src, dst, max_relays)
    return PathTable(tuple(network.hosts), tuple(routes), _capacities(network))


def faster_pairs(table: PathTable) -> list[tuple[int, int]]:
    """Pairs of hosts whose messages of 1 MiB are expected to be relayed: [(src, dst)]."""
    pairs = [(route.src, route.dst) for route in table.routes if route.is_direct]
    return [pair for pair in pairs if _is_faster(table, *pair)]


def _is_faster(table: PathTable, src: int, dst: int) -> bool:
    routes = table.between(src, dst)
    rate_Bps = min(sum(route.bandwidth_Bps for route in routes), table.capacity_Bps[src][dst])
    together_s = max(route.latency_s for route in routes) + MESSAGE_BYTES / rate_Bps
    return _MARGIN_RATIO * together_s < routes[0].transfer_s(MESSAGE_BYTES)


def _routes(network: Network, src: int, dst: int, max_relays: int) -> list[Route]:
    latency_s = network.latency_s
    rate_Bps = np.minimum(network.bandwidth_Bps, _FASTEST_BPS)
    direct = Route(src, (dst,), _positive(latency_s[src, dst]), float(rate_Bps[src, dst]))
    others = [host for host in range(network.num_hosts) if host not in (src, dst)]
    relayed = [
        Route(
            src,
            (relay, dst),
            _positive(latency_s[src, relay] + latency_s[relay, dst]) + HOP_S,
            float(min(rate_Bps[src, relay], rate_Bps[relay, dst])),
        )
        for relay in others
    ]
    worst_s = _WORST_RATIO * direct.transfer_s(MESSAGE_BYTES)
    useful = [route for route in relayed if route.transfer_s(MESSAGE_BYTES) < worst_s]
    useful.sort(key=lambda route: route.transfer_s(MESSAGE_BYTES))
    return [direct, *useful[:max_relays]]


def _positive(latency_s: float) -> float:
    return max(float(latency_s), 1e-6)


def _capacities(network: Network) -> tuple[tuple[float, ...], ...]:
    """The measured interfaces; else what a host reaches with its fastest peer."""
    rates = np.where(np.eye(network.num_hosts, dtype=bool), 0.0, network.bandwidth_Bps)
    out_Bps = _known_or(network.nic_out_Bps, rates.max(axis=1))
    in_Bps = _known_or(network.nic_in_Bps, rates.max(axis=0))
    both: Matrix = np.minimum(out_Bps[:, None], in_Bps[None, :])
    return tuple(tuple(float(value) for value in row) for row in both)


def _known_or(measured: Matrix | None, otherwise: Matrix) -> Matrix:
    if measured is None:
        return otherwise
    return np.where(np.isfinite(measured), measured, otherwise)
