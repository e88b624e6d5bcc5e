# SPDX-License-Identifier: Apache-2.0
"""Finds the paths around slow pairs of hosts."""

from __future__ import annotations

import dataclasses

import numpy as np

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.noise import with_pooled_noise
from fairlead.model.network import Matrix, Network
from fairlead.model.path_table import SEGMENT_BYTES, HostPath, PathTable

__all__ = [
    "DEFAULT_MAX_RELAYS",
    "MARGIN_RATIO",
    "MESSAGE_BYTES",
    "MOST_RELAYS",
    "faster_pairs",
    "faster_relays",
    "network_with_relays",
    "path_table",
    "probed_path_table",
    "several_connections_pairs",
]

DEFAULT_MAX_RELAYS = 3
"""Relayed paths of a pair: more share the same interfaces and add little."""

MOST_RELAYS = {"trials": DEFAULT_MAX_RELAYS, "mcm": 16}
"""The same by the rule of a run: MCM searches one path after the other, among all hosts."""

MESSAGE_BYTES = float(1 << 20)
"""Size for which paths are compared, that of MCM's experiment."""

HOP_S = 50e-6
"""What a router is assumed to add to the latency of a path."""

MARGIN_RATIO = 1.1
"""Paths together must be expected to be faster than the direct one by this, as in the program
(relay/routing/trial_estimates.hpp)."""

_WORST_RATIO = 4.0
"""A path that takes longer than the direct one by this is no help as a stripe either."""

_LEAST_PART = 0.1
"""A path by two relays has to add so much to what the others of its pair carry together, since it
loads two third hosts."""

_FASTEST_BPS = 1e12
"""For pairs that nothing limits."""


def path_table(network: Network, max_relays: int = DEFAULT_MAX_RELAYS) -> PathTable:
    """The direct path of each pair, and its best ones with relays.

    Args:
        network: All pairs measured.
        max_relays: Paths of a pair by one relay at most. Where there are no more of them, one by
            two relays follows if it adds enough.

    Raises:
        TopologyError: A pair was not measured.
    """
    network.pair_costs("bytes")  # refuses what was not measured
    num_hosts = network.num_hosts
    paths: list[HostPath] = []
    for src in range(num_hosts):
        for dst in range(num_hosts):
            if src != dst:
                by_one = _paths(network, src, dst)
                paths += by_one[: 1 + max_relays]
                if len(by_one) <= 1 + max_relays:
                    paths += _path_by_two(network, by_one)
    return PathTable(
        tuple(network.hosts), tuple(paths), _capacities(network), _segment_times(network)
    )


def probed_path_table(network: Network, max_relays: int = DEFAULT_MAX_RELAYS) -> PathTable:
    """`path_table` of a network as a probe has seen it, without the noise.

    With the noise of a quick probe some pairs look slow and some interfaces fast: on an even
    network relays would seem to be faster on many pairs.

    Raises:
        TopologyError: A pair was not measured.
    """
    return path_table(remove_noise(with_pooled_noise(network)), max_relays)


def faster_pairs(table: PathTable) -> list[tuple[int, int]]:
    """Pairs of hosts whose messages of 1 MiB are expected to be relayed: [(src, dst)]."""
    pairs = [(path.src, path.dst) for path in table.paths if path.is_direct]
    return [pair for pair in pairs if _is_faster(table, *pair)]


def several_connections_pairs(network: Network, table: PathTable) -> list[tuple[int, int]]:
    """Pairs whose interfaces carry more than one connection does: [(src, dst)].

    None where interfaces were not measured: the fastest pair, which stands for them elsewhere, is
    one connection itself.
    """
    if network.nic_out_Bps is None or network.nic_in_Bps is None:
        return []
    return [
        (path.src, path.dst)
        for path in table.paths
        if path.is_direct
        and table.capacity_Bps[path.src][path.dst] > MARGIN_RATIO**2 * path.bandwidth_Bps
    ]


def network_with_relays(network: Network, table: PathTable) -> Network:
    """The network as large messages find it: each pair by its fastest path.

    That is the direct one, the best by one relay, or several connections where interfaces were
    measured. Latencies stay, since short messages are never relayed, and so do interfaces, which
    relayed bytes load twice: a rehearsal shows what that costs.

    Args:
        network: The network without its noise.
        table: Its paths.
    """
    rates_Bps = network.bandwidth_Bps.copy()
    for path in faster_relays(table):
        pair = (path.src, path.dst)
        rates_Bps[pair] = max(rates_Bps[pair], path.bandwidth_Bps)
    for src, dst in several_connections_pairs(network, table):
        rates_Bps[src, dst] = max(rates_Bps[src, dst], table.capacity_Bps[src][dst])
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isfinite(rates_Bps), rates_Bps / network.bandwidth_Bps, 1.0)
    return dataclasses.replace(
        network,
        bandwidth_Bps=rates_Bps,
        bandwidth_low_Bps=_scale(network.bandwidth_low_Bps, ratio),
        bandwidth_high_Bps=_scale(network.bandwidth_high_Bps, ratio),
    )


def faster_relays(table: PathTable) -> list[HostPath]:
    """The best path by one third host of each pair for which that alone is the faster one.

    Several paths of a pair may share a bottleneck; a single one that is faster goes around it.
    """
    direct_s: dict[tuple[int, int], float] = {}
    best: dict[tuple[int, int], HostPath] = {}
    for path in table.paths:
        pair, seconds = (path.src, path.dst), path.transfer_s(MESSAGE_BYTES)
        if path.is_direct:
            direct_s[pair] = seconds
        elif len(path.hops) == 2 and MARGIN_RATIO * seconds < direct_s[pair]:
            best.setdefault(pair, path)  # The best is the first.
    return list(best.values())


def _scale(rates_Bps: Matrix | None, ratio: Matrix) -> Matrix | None:
    return None if rates_Bps is None else rates_Bps * ratio


def _is_faster(table: PathTable, src: int, dst: int) -> bool:
    paths = table.between(src, dst)
    rate_Bps = min(sum(path.bandwidth_Bps for path in paths), table.capacity_Bps[src][dst])
    together_s = max(path.latency_s for path in paths) + MESSAGE_BYTES / rate_Bps
    return MARGIN_RATIO * together_s < paths[0].transfer_s(MESSAGE_BYTES)


def _paths(network: Network, src: int, dst: int) -> list[HostPath]:
    """The direct path, then the useful ones by one relay, the fastest first."""
    latency_s = network.latency_s
    rate_Bps = np.minimum(network.bandwidth_Bps, _FASTEST_BPS)
    direct = HostPath(src, (dst,), _positive(latency_s[src, dst]), float(rate_Bps[src, dst]))
    others = [host for host in range(network.num_hosts) if host not in (src, dst)]
    relayed = [
        HostPath(
            src,
            (relay, dst),
            _positive(latency_s[src, relay] + latency_s[relay, dst]) + HOP_S,
            float(min(rate_Bps[src, relay], rate_Bps[relay, dst])),
        )
        for relay in others
    ]
    worst_s = _WORST_RATIO * direct.transfer_s(MESSAGE_BYTES)
    useful = [path for path in relayed if path.transfer_s(MESSAGE_BYTES) < worst_s]
    useful.sort(key=lambda path: path.transfer_s(MESSAGE_BYTES))
    return [direct, *useful]


def _path_by_two(network: Network, others: list[HostPath]) -> list[HostPath]:
    """The widest path by two relays through what a pair's other paths leave of the network.

    This is a step of Ford and Fulkerson's maximum flow, without taking back what others carry.
    """
    src, dst = others[0].src, others[0].dst
    rate_Bps = np.minimum(network.bandwidth_Bps, _FASTEST_BPS)
    np.fill_diagonal(rate_Bps, 0.0)
    from_src, to_dst = rate_Bps[src].copy(), rate_Bps[:, dst].copy()
    # Hosts of a cluster are mostly alike, so the fastest pair shows the others' interfaces.
    alike_Bps = np.full(network.num_hosts, rate_Bps.max())
    out_Bps = _known_or(network.nic_out_Bps, alike_Bps).copy()
    in_Bps = _known_or(network.nic_in_Bps, alike_Bps).copy()
    for path in others:
        hosts = [src, *path.hops]
        from_src[hosts[1]] -= path.bandwidth_Bps
        to_dst[hosts[-2]] -= path.bandwidth_Bps
        out_Bps[hosts[:-1]] -= path.bandwidth_Bps
        in_Bps[hosts[1:]] -= path.bandwidth_Bps
    # [first relay, second relay]: the least of the three hops and the four interfaces.
    to_first = np.minimum(np.minimum(from_src, out_Bps[src]), np.minimum(in_Bps, out_Bps))
    from_second = np.minimum(np.minimum(to_dst, in_Bps[dst]), np.minimum(in_Bps, out_Bps))
    width_Bps = np.minimum(rate_Bps, np.minimum(to_first[:, None], from_second[None, :]))
    width_Bps[[src, dst], :] = width_Bps[:, [src, dst]] = 0.0
    first, second = divmod(int(np.argmax(width_Bps)), network.num_hosts)
    added_Bps = float(width_Bps[first, second])
    if added_Bps < _LEAST_PART * sum(path.bandwidth_Bps for path in others):
        return []
    hops = (first, second, dst)
    pairs = zip((src, first, second), hops, strict=True)
    latency_s = _positive(sum(network.latency_s[pair] for pair in pairs)) + 2 * HOP_S
    return [HostPath(src, hops, latency_s, added_Bps)]


def _positive(latency_s: float) -> float:
    return max(float(latency_s), 1e-6)


def _capacities(network: Network) -> tuple[tuple[float, ...], ...]:
    """The measured interfaces; else what a host reaches with its fastest peer."""
    rates = np.where(np.eye(network.num_hosts, dtype=bool), 0.0, network.bandwidth_Bps)
    out_Bps = _known_or(network.nic_out_Bps, rates.max(axis=1))
    in_Bps = _known_or(network.nic_in_Bps, rates.max(axis=0))
    both: Matrix = np.minimum(out_Bps[:, None], in_Bps[None, :])
    return tuple(tuple(float(value) for value in row) for row in both)


def _segment_times(network: Network) -> tuple[tuple[float, ...], ...]:
    rates_Bps = np.minimum(network.bandwidth_Bps, _FASTEST_BPS)
    times_s = np.maximum(network.latency_s, 1e-6) + SEGMENT_BYTES / rates_Bps
    np.fill_diagonal(times_s, np.inf)
    return tuple(tuple(float(value) for value in row) for row in times_s)


def _known_or(measured: Matrix | None, otherwise: Matrix) -> Matrix:
    if measured is None:
        return otherwise
    return np.where(np.isfinite(measured), measured, otherwise)
