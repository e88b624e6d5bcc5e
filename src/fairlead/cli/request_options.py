# SPDX-License-Identifier: Apache-2.0
"""The groups of options of commands that start or measure something, each declared once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import typer

from fairlead.act.plan.relay import DEFAULT_THRESHOLD_BYTES, DEFAULT_ZONES, RELAY_RULES
from fairlead.cli import options
from fairlead.cli.given_options import is_given, refuse
from fairlead.cli.named_hosts import hosts_named
from fairlead.cli.option_groups import OptionGroup
from fairlead.cli.parsers import split_arguments
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.flows.inputs.requested_job import RequestedJob, find_job
from fairlead.flows.request import (
    CollectivesRequest,
    LauncherRequest,
    NetworkRequest,
    PlacingRequest,
    RelayRequest,
    find_hosts,
)
from fairlead.measure.network_sources import TcpSource, source_kind
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator

__all__ = [
    "CollectivesOptions",
    "DecisionOptions",
    "HostOptions",
    "LauncherOptions",
    "MeasuringOptions",
    "NetworkOptions",
    "PlacingOptions",
    "RelayOptions",
]

_OF_PROBE = frozenset({"mode", "budget", "contention", "max_age"})


@dataclasses.dataclass(frozen=True)
class HostOptions(OptionGroup):
    """On which hosts."""

    hostfile: options.Hostfile = None
    host: options.Hosts = None

    def cluster(self, by: LauncherRequest | None = None) -> Cluster:
        """The hosts that the user named, or else those of the allocation, or of this launcher.

        Args:
            by: The launcher; None for the one that is found.

        Raises:
            BadParameter: They are named in both ways.
            InputError: There are none, or the file cannot be read or is not understood.
        """
        by = LauncherRequest() if by is None else by
        return find_hosts(hosts_named(self.hostfile, self.host, by), by)

    def job(
        self,
        num_ranks: int | None,
        launcher: LauncherOptions,
        narrator: Narrator,
        program: Sequence[str] = (),
    ) -> RequestedJob:
        """The ranks and hosts that the user named for a program; the rest is the launcher's.

        Raises:
            BadParameter: Hosts are named in both ways.
            Error: As `find_job`, or the file cannot be read or is not understood.
        """
        by = launcher.request()
        named = hosts_named(self.hostfile, self.host, by)
        return find_job(num_ranks, named, by, narrator, program=program)


@dataclasses.dataclass(frozen=True)
class LauncherOptions(OptionGroup):
    """By which launcher."""

    mpirun: options.Mpirun = None
    launcher_args: options.LauncherArgs = ""

    def request(self) -> LauncherRequest:
        """The same for the flows.

        Raises:
            BadParameter: The arguments have an open quotation.
        """
        return LauncherRequest(self.mpirun, split_arguments(self.launcher_args))


@dataclasses.dataclass(frozen=True)
class NetworkOptions(OptionGroup):
    """Where the network comes from."""

    network: options.NetworkSource = None
    mode: options.ModeOption = options.Mode.quick
    max_age: options.MaxAge = 3600.0

    def request(self) -> NetworkRequest:
        """The same for the flows."""
        return NetworkRequest(self.network, self.mode.value, max_age_s=self.max_age)


@dataclasses.dataclass(frozen=True)
class MeasuringOptions(OptionGroup):
    """What is measured of it."""

    contention: options.Contention = False
    skip_unreachable: options.SkipUnreachable = False

    def request(
        self, context: typer.Context, network: NetworkOptions, budget_s: float | None
    ) -> NetworkRequest:
        """The network of a command that measures within a budget.

        Raises:
            BadParameter: An option is for measuring, but the network is not measured.
        """
        kind = source_kind(network.network)
        if kind.is_given:
            reason = f"does not go together with --network {kind.form}: nothing is measured"
            refuse(context, _OF_PROBE, reason)
        elif not kind.may_be_kept:
            refuse(context, {"max_age"}, f"does not go together with --network {kind.form}")
        if issubclass(kind, TcpSource):
            reason = "has no effect with --network tcp:, which measures pairs in one way"
            refuse(context, {"mode", "contention"}, reason)
        return dataclasses.replace(
            network.request(),
            budget_s=budget_s,
            contention=self.contention,
            skip_unreachable=self.skip_unreachable,
        )


@dataclasses.dataclass(frozen=True)
class PlacingOptions(OptionGroup):
    """By what ranks are placed."""

    metric: options.MetricOption = options.Metric.bytes
    objective: options.ObjectiveOption = options.DEFAULT_OBJECTIVE
    uneven: options.Uneven = False
    seed: options.Seed = 0

    def request(self) -> PlacingRequest:
        """The same for the flows."""
        return PlacingRequest(
            metric=self.metric.value,
            objective=self.objective.value,
            seed=self.seed,
            uneven=self.uneven,
        )


@dataclasses.dataclass(frozen=True)
class CollectivesOptions(OptionGroup):
    """Which collectives follow schedules."""

    tune: options.Tune = "auto"
    plan: options.PlanFolder = None

    def request(self, context: typer.Context) -> CollectivesRequest:
        """The same for the flows.

        Raises:
            BadParameter: The user asked for a plan and for tuning.
        """
        if self.tune == "auto" and is_given(context, "tune"):
            refuse(context, {"plan"}, "does not go together with --tune auto")
        return CollectivesRequest(self.tune, self.plan)


@dataclasses.dataclass(frozen=True)
class RelayOptions(OptionGroup):
    """Which messages may go by way of other hosts."""

    relay: options.Relay = "auto"
    relay_threshold: options.RelayThreshold = DEFAULT_THRESHOLD_BYTES
    relay_rule: options.RelayRule = RELAY_RULES[0]
    relay_zones: options.RelayZones = DEFAULT_ZONES

    def request(self, context: typer.Context) -> RelayRequest | None:
        """The same for the flows; None: no message is relayed.

        Raises:
            BadParameter: An option of relays was given with --relay never, or without its rule.
        """
        if self.relay == "never":
            refuse(context, {"relay_threshold", "relay_rule"}, "does not go with --relay never")
        if self.relay_rule != "mcm":
            refuse(context, {"relay_zones"}, "needs --relay-rule mcm")
        if self.relay == "never":
            return None
        return RelayRequest(self.relay, self.relay_threshold, self.relay_rule, self.relay_zones)


@dataclasses.dataclass(frozen=True)
class DecisionOptions(OptionGroup):
    """When a placement is used."""

    time_limit: options.TimeLimit = None
    risk: options.Risk = DEFAULT_RULE.risk
    reorder: options.Reorder = True
    inside: options.Inside = True
    dry_run: options.DryRun = False

    def request(self, method: str, placing: PlacingRequest) -> PlacingRequest:
        """How `run` places, by this method."""
        return dataclasses.replace(
            placing,
            method=method,
            time_limit_s=self.time_limit,
            rule=Rule(risk=self.risk),
            reorder=self.reorder,
            inside=self.inside,
        )
