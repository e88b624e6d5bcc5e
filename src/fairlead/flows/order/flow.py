# SPDX-License-Identifier: Apache-2.0
"""Measures hosts over TCP, places a pattern on them, and times both orders."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.act.launch.remote_command import remote_command
from fairlead.decide.order import Ordering, order_hosts
from fairlead.decide.order.ordering import Rehearse, require_orderable
from fairlead.flows.order.rendezvous import Place, as_json, join_ordering, open_meeting
from fairlead.measure.one_machine import describe_one_machine
from fairlead.measure.reachable import drop_unreachable, reachable_part
from fairlead.measure.tcp import (
    TcpProbes,
    hosts_by_agent,
    join,
    measure_pairs,
    rehearse_orders,
    usual_sample,
)
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator

__all__ = ["OrderRequest", "OrderResult", "order"]

_REHEARSAL_S = 0.1
"""About what the pattern takes in one round of the rehearsal."""
_NUM_ROUNDS = 9


@dataclasses.dataclass(frozen=True)
class OrderRequest:
    """What the user asked for.

    Attributes:
        cluster: Hosts and slots in the given order; None for those that join.
        num_hosts: Number of hosts of a rendezvous without names.
        pattern: As `fairlead.decide.order.pattern_named` takes it.
        message_bytes: Bytes that each rank contributes to one operation.
        network: Where the network comes from, if it is not to be measured over TCP.
        num_spare: Hosts to leave out.
        agent: What reaches other hosts; None looks for it.
        place: Where the hosts meet; None reaches them from here.
        own_name: Name of this host in a rendezvous.
        limit_s: Time for all hosts to answer or join.
        skip_unreachable: Leave out hosts that do not answer.
        seed: Seed of all random choices.
    """

    cluster: Cluster | None
    pattern: str
    message_bytes: float
    num_hosts: int | None = None
    network: Callable[[Cluster], Network | HostTree] | None = None
    num_spare: int = 0
    agent: str | None = None
    place: Place | None = None
    own_name: str = ""
    limit_s: float = 10.0
    skip_unreachable: bool = False
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class OrderResult:
    """The order, and what it was found by.

    Attributes:
        ordering: The order.
        network: What it was found on; None for a host that has joined another one.
        measured_s, took_s: Time of the measurement, and of all.
        own: Name of this host in a rendezvous.
    """

    ordering: Ordering
    network: Network | HostTree | None
    measured_s: float
    took_s: float
    own: str | None = None

    @property
    def is_on_bad_host(self) -> bool:
        """Whether this host is bad, or any where it is not one of a rendezvous."""
        bad = [found.host for found in self.ordering.bad_hosts]
        return self.own in bad if self.own else bool(bad)


def order(request: OrderRequest, narrator: Narrator) -> OrderResult:
    """Measure, order, and rehearse.

    Raises:
        Error: A host cannot be measured, or the pattern does not fit the hosts.
    """
    began_s = time.monotonic()
    if request.cluster is not None:
        require_orderable(request.cluster, request.pattern, request.num_spare)
    if request.place is not None and not request.place.is_own:
        ordering, own = join_ordering(
            join(request.place.address, request.own_name, request.limit_s)
        )
        return OrderResult(ordering, None, math.nan, time.monotonic() - began_s, own)
    if request.network is not None:
        assert request.cluster is not None
        network = request.network(request.cluster)
        cluster = request.cluster
        if isinstance(network, Network):
            cluster, network = _take(cluster, network, narrator)
        ordering = _find_order(request, cluster, network, None)
        return OrderResult(ordering, network, 0.0, time.monotonic() - began_s)
    with _probes(request) as (probes, cluster, conclude):
        narrator.report(f"measuring {cluster.num_hosts} hosts over TCP")
        with narrator.progress("measuring") as on_progress:
            network = measure_pairs(
                probes, sample=usual_sample(probes, request.seed), on_progress=on_progress
            )
        measured, network = _take(cluster, network, narrator)
        measured_s = time.monotonic() - began_s
        ordering = _find_order(request, measured, network, _rehearsal(probes, network, narrator))
        conclude(ordering)
    took_s = time.monotonic() - began_s
    return OrderResult(ordering, network, measured_s, took_s, request.own_name or None)


def _take(cluster: Cluster, network: Network, narrator: Narrator) -> tuple[Cluster, Network]:
    """Hosts and network without those that were not reached."""
    for line in describe_one_machine(network):
        narrator.report(f"network: {line}")
    return drop_unreachable(cluster, network)


def _find_order(
    request: OrderRequest,
    cluster: Cluster,
    network: Network | HostTree,
    rehearse: Rehearse | None,
) -> Ordering:
    return order_hosts(
        network,
        cluster,
        request.pattern,
        message_bytes=request.message_bytes,
        num_spare=request.num_spare,
        seed=request.seed,
        rehearse=rehearse,
    )


@contextlib.contextmanager
def _probes(
    request: OrderRequest,
) -> Iterator[tuple[TcpProbes, Cluster, Callable[[Ordering], None]]]:
    """The programs on all hosts, and what to do with the order in the end."""
    if request.place is not None:
        with open_meeting(
            request.place, request.cluster, request.num_hosts, request.own_name, request.limit_s
        ) as (meeting, cluster):
            _greet(meeting.probes, cluster, request)
            yield (
                meeting.probes,
                cluster,
                lambda found: meeting.conclude(
                    {host: as_json(found, host) for host in cluster.hosts}
                ),
            )
        return
    assert request.cluster is not None
    command = remote_command(request.agent, request.limit_s)
    with hosts_by_agent(request.cluster.hosts, command) as probes:
        cluster = _greet(probes, request.cluster, request)
        yield probes, cluster, lambda _found: None


def _greet(probes: TcpProbes, cluster: Cluster, request: OrderRequest) -> Cluster:
    reasons = probes.greet(request.limit_s)
    return reachable_part(cluster, reasons, request.skip_unreachable)


def _rehearsal(probes: TcpProbes, network: Network, narrator: Narrator) -> Rehearse:
    """Sends the pattern, with so many bytes that a round takes a short time."""

    def rehearse(orders: Sequence[Sequence[str]], traffic: Traffic) -> npt.NDArray[np.float64]:
        given = Placement(orders[0], np.arange(traffic.num_ranks))
        expected_s = evaluate(given, traffic, network).bottleneck_s
        scaled = traffic.bytes * max(1e-9, _REHEARSAL_S / expected_s)
        with narrator.progress("comparing both orders") as on_progress:
            return rehearse_orders(
                probes, orders, scaled.ceil(), num_rounds=_NUM_ROUNDS, on_progress=on_progress
            )

    return rehearse
