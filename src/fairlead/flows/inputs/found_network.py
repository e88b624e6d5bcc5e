# SPDX-License-Identifier: Apache-2.0
"""The network of one run and its hosts, without hosts that could not be reached."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping

from fairlead.errors import TopologyError
from fairlead.measure.network_sources import NetworkSource, require_network
from fairlead.measure.one_machine import describe_one_machine
from fairlead.measure.reachable import drop_unreachable, reachable_part, reason_of_host
from fairlead.measure.sampling.completion import complete
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.units import format_duration

IMPLAUSIBLE_RATIO = 3.0
"""A network contradicts the traced run if by its rates the messages alone would have taken this
many times as long as the run: with correct rates, the bottleneck's time is a lower bound."""


class FoundNetwork:
    """The network of one run as known so far, and the hosts that take part.

    Attributes:
        cluster: Hosts that take part.
        seconds: Time for checking and measuring; 0 where the network was given.
        has_probed: Whether it was measured now, and not only checked.
    """

    def __init__(
        self,
        source: NetworkSource,
        whole: Cluster,
        skip_unreachable: bool,
        narrator: Narrator,
        *,
        has_budget: bool = False,
    ) -> None:
        """Hosts and where their network comes from; with a budget a probe may leave out pairs."""
        self._source, self._whole, self._narrator = source, whole, narrator
        self._skip_unreachable = skip_unreachable
        self._has_budget = has_budget
        self._network: Network | None = None
        self._unreachable: Mapping[str, str] | None = None
        self.cluster = whole
        self.seconds = 0.0
        self.has_probed = False

    def look(self, ask: Callable[[], Mapping[str, str]]) -> None:
        """Take the available network; without one, find by `ask` which hosts answer."""
        with self.record_time():
            known = self._source.look_up(self._whole)
            if known is not None:
                self._take(require_network(known, self._source.name))
                return
            self._unreachable = ask()
            self.cluster = reachable_part(self._whole, self._unreachable, self._skip_unreachable)

    def give_slots(self, cluster: Cluster) -> None:
        """Take the slots that the launcher was seen to have on these hosts."""
        slots = dict(zip(self._whole.hosts, self._whole.slots, strict=True))
        slots |= dict(zip(cluster.hosts, cluster.slots, strict=True))
        self._whole = dataclasses.replace(
            self._whole,
            slots=tuple(slots.values()),
            bare_hosts=cluster.bare_hosts,
            given=cluster.given,
            named=cluster.named,
        )
        self.cluster = cluster

    @property
    def is_known(self) -> bool:
        """Whether nothing has to be measured."""
        return self._network is not None

    def measure(self) -> Network:
        """The network, measured now if there is none.

        Raises:
            Error: It cannot be measured.
        """
        return self._network or self._measure()

    def refine(self, network: Network) -> None:
        """Take the network with what was measured in addition, of the same hosts."""
        self._network = network

    def forget(self) -> None:
        """Measure again when it is asked for, as the network may have changed."""
        self._network = None

    def settle(
        self, traffic: Traffic, launchers: Placement, *, measures_again: bool
    ) -> tuple[Cluster, Network]:
        """Hosts and network, measured now if there is none, or if it is implausible.

        Args:
            traffic: Traffic of a traced run, to check the network with.
            launchers: Where the ranks of that run were.
            measures_again: Whether an implausible network is measured again, or only reported.

        Raises:
            TopologyError: The ranks do not fit the remaining hosts, or too few pairs were measured
                in the budget.
        """
        network = self.measure()
        self.cluster.require_room_for(traffic.num_ranks)
        has_true_rates = self._source.has_true_rates
        problem = _implausible(network, traffic, launchers) if has_true_rates else None
        if problem is not None:
            self._narrator.report(f"network: {problem}")
            if measures_again:
                network = self._measure()
                self.cluster.require_room_for(traffic.num_ranks)
        return self.cluster, network

    def _measure(self) -> Network:
        self.has_probed = True
        with self.record_time():
            network = self._source.measure(self._whole, self._unreachable)
            return self._take(self._complete(network) if self._has_budget else network)

    def _complete(self, network: Network) -> Network:
        """The network with estimates of pairs to which the probe did not come in its time.

        What they are wrong by shows in the rehearsal of a placement.
        """
        reached = [host for host in network.hosts if host not in network.unreachable]
        num_pairs = len(reached) * (len(reached) - 1)
        num_missing = len(network.select(reached).unmeasured_pairs())
        if num_missing == 0:
            return network
        completed = complete(network)
        if not completed.select(reached).unmeasured_pairs():
            self._narrator.report(
                f"network: {num_pairs - num_missing} of {num_pairs} pairs of hosts were measured "
                "in time, the others are estimated"
            )
        return completed

    def _take(self, network: Network) -> Network:
        """Remove the hosts that could not be reached from cluster and network."""
        _require_reached(self._source, self._whole, network, self._skip_unreachable)
        for host in self._whole.hosts:
            if host in network.unreachable:
                why = network.unreachable[host]
                self._narrator.report(f"network: host {host!r} is left out: {why}")
        for line in describe_one_machine(network):
            self._narrator.report(f"network: {line}")
        self.cluster, self._network = drop_unreachable(self._whole, network)
        return self._network

    @contextlib.contextmanager
    def record_time(self) -> Iterator[None]:
        """Count the time of the block as that of measuring."""
        started = time.monotonic()
        yield
        if not self._source.is_given:
            self.seconds += time.monotonic() - started


def _require_reached(
    source: NetworkSource, cluster: Cluster, network: Network, skip_unreachable: bool
) -> None:
    missing = {host: why for host, why in network.unreachable.items() if host in cluster.hosts}
    if missing and not skip_unreachable:
        raise TopologyError(
            f"{source.name}: measured without {reason_of_host(missing)}; measure anew by --network "
            "probe:, or leave the host out by --skip-unreachable"
        )


def _implausible(network: Network, traffic: Traffic, launchers: Placement) -> str | None:
    """Why the network contradicts the traced run; None if it does not."""
    # With relays, or on another placement, messages may take less than by these rates.
    if traffic.origin.get("has_levers"):
        return None
    # Hosts that the probe has left out since took part in that run, so it says nothing then.
    if not traffic.run_time_s > 0 or tuple(network.hosts) != tuple(launchers.hosts):
        return None
    least_s = evaluate(launchers, traffic, network).bottleneck_s
    if least_s <= IMPLAUSIBLE_RATIO * traffic.run_time_s:
        return None
    return (
        f"by these rates the program's messages take {format_duration(least_s)}, but the traced "
        f"run ended within {format_duration(traffic.run_time_s)}: measured on a busy machine?"
    )
