# SPDX-License-Identifier: Apache-2.0
"""Which hosts take part: those that answer, each pair of them measured."""

from __future__ import annotations

from collections.abc import Mapping

from fairlead.errors import ProbeError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

__all__ = ["drop_unreachable", "reachable_part", "reason_of_host"]


def reachable_part(cluster: Cluster, reasons: Mapping[str, str], skip: bool) -> Cluster:
    """The cluster without hosts that do not answer.

    Args:
        cluster: All hosts.
        reasons: Why some of them do not answer.
        skip: Whether these may be left out.

    Raises:
        ProbeError: They may not, or no host is left.
    """
    if not reasons:
        return cluster
    named = reason_of_host(reasons)
    if not skip:
        raise ProbeError(
            f"cannot reach {named}; repair or remove the host, or leave it out by "
            "--skip-unreachable"
        )
    kept = [host for host in cluster.hosts if host not in reasons]
    if not kept:
        raise ProbeError(f"no host can be reached: {named}")
    return cluster.select(kept)


def drop_unreachable(cluster: Cluster, network: Network) -> tuple[Cluster, Network]:
    """The cluster and the network without the hosts that could not be reached, in one order.

    Args:
        cluster: Hosts that may take part.
        network: Holds all of them that could be reached, may hold more.

    Raises:
        TopologyError: No host remains, one is not in the network, or a pair of those that remain
            is unmeasured.
    """
    kept = [host for host in cluster.hosts if host not in network.unreachable]
    if not kept:
        raise TopologyError("network: none of these hosts could be reached")
    part, measured = cluster.select(kept), network.select(kept)
    measured.require_measured(
        "give the probe more time (--budget), or leave the host out of the hostfile"
    )
    return part, measured


def reason_of_host(reasons: Mapping[str, str]) -> str:
    """Hosts with the reason why each does not answer, in one line."""
    return "; ".join(f"host {host!r} ({reason})" for host, reason in reasons.items())
