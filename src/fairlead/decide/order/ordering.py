# SPDX-License-Identifier: Apache-2.0
"""Places the blocks of a pattern, one for each host, and keeps the given order without a gain."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.decide.expected_gain import Gain, expected_gain
from fairlead.decide.hosts.bad_hosts import BadHost, find_bad_hosts
from fairlead.decide.order.patterns import Pattern, pattern_named
from fairlead.decide.paired_median import paired_gain
from fairlead.decide.placement import place
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate_on_tree
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["LEAST_GAIN_RATIO", "Ordering", "Rehearse", "order_hosts", "require_orderable"]

LEAST_GAIN_RATIO = 0.02
"""Without this gain, or if its interval reaches a loss, the given order is kept."""

_COST = "bottleneck_and_mean_s"

Rehearse = Callable[[Sequence[Sequence[str]], Traffic], npt.NDArray[np.float64]]
"""Times of the pattern in several orders, taken in turns, shape (R, orders)."""


@dataclasses.dataclass(frozen=True)
class Ordering:
    """An order of hosts and why it was taken.

    Attributes:
        hosts: The hosts in the order of their ranks, without those left out.
        slots: Slots of each.
        given: The order that the user gave, of as many hosts.
        left_out: Hosts that are spare, in the given order.
        gain: Time that the order found saves on the network, as part of that of the given one.
        is_rehearsed: The gain was measured by the pattern's own messages, and not predicted.
        bad_hosts: Those whose pairs are clearly slower than the others', the worst first.
    """

    hosts: tuple[str, ...]
    slots: tuple[int, ...]
    given: tuple[str, ...]
    left_out: tuple[str, ...]
    gain: Gain
    is_rehearsed: bool
    bad_hosts: tuple[BadHost, ...]

    @property
    def is_kept(self) -> bool:
        """Whether the given order stands."""
        return self.hosts == self.given


def order_hosts(
    network: Network | HostTree,
    cluster: Cluster,
    pattern: str,
    *,
    message_bytes: float,
    num_spare: int = 0,
    seed: int = 0,
    rehearse: Rehearse | None = None,
) -> Ordering:
    """Find the order of hosts in which a pattern takes the least time.

    Args:
        network: Must hold all hosts of the cluster; all pairs have a value.
        cluster: Hosts and slots, in the given order.
        pattern: As `pattern_named` takes it.
        message_bytes: Bytes that each rank contributes to one operation.
        num_spare: Hosts to leave out: bad ones first, then those that the pattern does best
            without.
        seed: Seed of the search.
        rehearse: Times the orders where hosts can do so; None predicts.

    Raises:
        InputError: The pattern does not fit the hosts, or nothing would be left of them.
    """
    named = require_orderable(cluster, pattern, num_spare)
    num_blocks = cluster.num_hosts - num_spare
    bad_hosts = () if isinstance(network, HostTree) else tuple(find_bad_hosts(network))
    given = Placement(cluster.hosts, np.arange(num_blocks), method="given")
    traffic = named.between_hosts(cluster.slots[:num_blocks], message_bytes)
    spared = [bad.host for bad in bad_hosts[:num_spare]]
    found = _place_blocks(network, cluster, traffic, spared, seed)
    orders = [tuple(placement.host_names()) for placement in (given, found)]
    is_rehearsed = False
    if orders[0] == orders[1] or not traffic.bytes.nnz:
        gain = Gain(0.0, 0.0, 0.0)
    elif rehearse is None:
        gain = _predict_gain(network, traffic, given, found, seed)
    else:
        times_s = rehearse(orders, traffic)
        gain, is_rehearsed = paired_gain(times_s[:, 1], times_s[:, 0]), True
    # A host that is left out because it is bad stays out, whatever its absence gains.
    is_gain = gain.ratio >= LEAST_GAIN_RATIO and gain.is_beyond_noise
    # A bad host is left out where it can be, also if the pattern hardly uses its slow pairs.
    is_taken = is_gain or not set(spared).isdisjoint(orders[0])
    hosts = orders[1] if is_taken else orders[0]
    return Ordering(
        hosts=hosts,
        slots=cluster.select(hosts).slots,
        given=orders[0],
        left_out=tuple(host for host in cluster.hosts if host not in hosts),
        gain=gain,
        is_rehearsed=is_rehearsed,
        bad_hosts=bad_hosts,
    )


def require_orderable(cluster: Cluster, pattern: str, num_spare: int) -> Pattern:
    """The pattern, if it fits these hosts without the spare ones.

    Raises:
        InputError: It does not, or nothing would be left of the hosts.
    """
    num_blocks = cluster.num_hosts - num_spare
    if num_blocks < 1:
        raise InputError(f"spare: {num_spare} of {cluster.num_hosts} hosts leave none to use")
    return pattern_named(pattern, cluster.slots[:num_blocks])


def _place_blocks(
    network: Network | HostTree,
    cluster: Cluster,
    traffic: Traffic,
    spared: Sequence[str],
    seed: int,
) -> Placement:
    """The best place of each block, one block a host; spared hosts get none."""
    used = [host for host in cluster.hosts if host not in spared]
    if len(used) == 1 or not traffic.bytes.nnz:
        return Placement(used, np.arange(traffic.num_ranks), method="given")
    return place(
        traffic,
        network,
        Cluster.uniform(used, slots=1),
        objective="sum" if isinstance(network, HostTree) else "bottleneck-and-mean",
        seed=seed,
    )


def _predict_gain(
    network: Network | HostTree,
    traffic: Traffic,
    given: Placement,
    found: Placement,
    seed: int,
) -> Gain:
    if isinstance(network, HostTree):
        before, after = (
            evaluate_on_tree(placement, traffic, network).weighted_sum["bytes"]
            for placement in (given, found)
        )
        ratio = 1 - after / before if before > 0 else 0.0
        return Gain(ratio, ratio, ratio)
    return expected_gain(found, given, traffic, network, seed, cost=_COST)
