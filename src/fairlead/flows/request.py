# SPDX-License-Identifier: Apache-2.0
"""What the user asked of `fairlead run` or `compare`, a part for each subject."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

from fairlead.act.launch import (
    LaunchSpec,
    SchedulerLauncher,
    default_hosts,
    detect,
    find_allocation,
)
from fairlead.act.plan.relay import DEFAULT_THRESHOLD_BYTES, DEFAULT_ZONES, RELAY_RULES
from fairlead.decide.placement import DEFAULT_OBJECTIVE
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.errors import InputError, LaunchError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

__all__ = [
    "DEFAULT_TRACE_LIMIT_S",
    "RELAY_MODES",
    "CollectivesRequest",
    "LauncherRequest",
    "NetworkRequest",
    "PlacingRequest",
    "RelayRequest",
    "Request",
    "find_allocation_of",
    "find_hosts",
    "name_origin",
    "require_ranks",
]


DEFAULT_TRACE_LIMIT_S = 60.0


@dataclasses.dataclass(frozen=True)
class LauncherRequest:
    """By which launcher the program is started.

    Attributes:
        mpirun: The launcher; None looks for it.
        arguments: Passed to the launcher unchanged.
    """

    mpirun: str | None = None
    arguments: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class NetworkRequest:
    """Where the network comes from.

    Attributes:
        source: A `.net.npz` file, or "probe:" to measure now; None measures unless a profile of the
            same hosts younger than `max_age_s` is kept.
        mode: How it is measured, "quick" or "full".
        budget_s: Bound on the time of the probe, in `run` on that of the decision; None for the
            default.
        contention: Also find shared bottlenecks, if it has to be measured.
        max_age_s: Age up to which a kept profile is used again.
        skip_unreachable: Leave out hosts that do not answer.
    """

    source: str | None = None
    mode: Literal["quick", "full"] = "quick"
    budget_s: float | None = None
    contention: bool = False
    max_age_s: float = 3600.0
    skip_unreachable: bool = False


@dataclasses.dataclass(frozen=True)
class PlacingRequest:
    """How ranks are placed.

    Attributes:
        method: Mapping method of `run`, one of `fairlead.decide.placement.METHODS`.
        metric: How traffic is weighted, "bytes" or "messages".
        objective: Objective that selects among placements, one of
            `fairlead.decide.placement.OBJECTIVES`.
        time_limit_s: When the method "optimize" is to stop; None: by the number of ranks.
        seed: Seed of all random choices.
        rule: When `run` uses a placement.
        uneven: A slow host may get fewer ranks than its even share.
        reorder: Topologies that the program makes with `reorder=1` are placed by the network.
        inside: Ranks may exchange CPUs inside the hosts where they are.
    """

    method: str = "optimize"
    metric: Literal["bytes", "messages"] = "bytes"
    objective: str = DEFAULT_OBJECTIVE
    time_limit_s: float | None = None
    seed: int = 0
    rule: Rule = DEFAULT_RULE
    uneven: bool = False
    reorder: bool = False
    inside: bool = False


@dataclasses.dataclass(frozen=True)
class CollectivesRequest:
    """Which collectives follow schedules.

    Attributes:
        tune: "auto" times the program's collectives on its placement if they take enough of its
            time, and lets those follow schedules that are faster.
        plan: Folder of a plan by `fairlead tune`, whose collectives are used; None for none.
    """

    tune: Literal["auto", "never"] = "never"
    plan: Path | None = None


RELAY_MODES = ("auto", "never", "always")
"""Whether messages are relayed, the default first."""


@dataclasses.dataclass(frozen=True)
class RelayRequest:
    """Which messages may go by way of other hosts.

    Attributes:
        mode: "always"; or "auto": if a rehearsal shows that it pays.
        least_bytes: Messages of at least this size may.
        rule: By which they take paths, one of `fairlead.act.plan.relay.RELAY_RULES`.
        zones: Where the zones medium and high of the rule "mcm" begin.
    """

    mode: Literal["auto", "always"] = "always"
    least_bytes: int = DEFAULT_THRESHOLD_BYTES
    rule: str = RELAY_RULES[0]
    zones: tuple[float, float] = DEFAULT_ZONES


@dataclasses.dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks.
        cluster: Hosts and slots.
        launcher: By which launcher the program is started.
        network: Where the network comes from.
        traffic: A `.traffic.npz` file, or "trace:" to trace now; None traces the program unless it
            was traced before.
        first: "auto": a traced run is the run that was asked for, and the next one is placed.
            "twice": the program is started again after it. "prefix": it is ended as soon as its
            traffic is known, and then started again.
        may_guess: Whether the traffic of an input that was never traced may be taken from another
            input or number of ranks.
        trace_limit_s: With "prefix", when it is ended in any case.
        placing: How ranks are placed.
        collectives: Which collectives follow schedules.
        relays: Which messages may go by way of other hosts; None: none.
        directory: Folder of this run; None makes one under the user's state folder.
    """

    program: tuple[str, ...]
    num_ranks: int
    cluster: Cluster
    launcher: LauncherRequest = dataclasses.field(default_factory=LauncherRequest)
    network: NetworkRequest = dataclasses.field(default_factory=NetworkRequest)
    traffic: Path | None = None
    first: Literal["auto", "twice", "prefix"] = "twice"
    may_guess: bool = False
    trace_limit_s: float = DEFAULT_TRACE_LIMIT_S
    placing: PlacingRequest = dataclasses.field(default_factory=PlacingRequest)
    collectives: CollectivesRequest = dataclasses.field(default_factory=CollectivesRequest)
    relays: RelayRequest | None = None
    directory: Path | None = None

    @property
    def name(self) -> str:
        """Name of the program, for people."""
        return Path(self.program[0]).name

    @property
    def is_relay_asked_for(self) -> bool:
        """Whether the user said that messages are to be relayed."""
        return self.relays is not None and self.relays.mode == "always"

    def launch_spec(self, cluster: Cluster, placement: Placement | None = None) -> LaunchSpec:
        """How the program is started on these hosts; None leaves the placement to the launcher."""
        return LaunchSpec(
            self.program,
            self.num_ranks,
            cluster,
            placement,
            launcher_args=self.launcher.arguments,
        )


def require_ranks(file: Path, num_ranks: int, wanted: int, remedy: str) -> None:
    """Check that a file which the user named is for as many ranks as are to run.

    Raises:
        InputError: It is not; the message ends with the remedy.
    """
    if num_ranks != wanted:
        raise InputError(f"{file}: is for {num_ranks} ranks, but {wanted} are to run; {remedy}")


def find_hosts(named: Cluster | None, by: LauncherRequest | None = None) -> Cluster:
    """The hosts that the user named, or else those of the allocation that this runs in.

    Args:
        named: Hosts by a file or a list; None for none.
        by: The launcher, which may have a hostfile of its own; None for the one that is found.

    Raises:
        InputError: There are neither.
        LaunchError: A launcher's variable is set, and there is no launcher.
    """
    cluster = named or find_allocation_of(by or LauncherRequest())
    if cluster is None:
        raise InputError(
            "no hosts: give --hostfile FILE or -H h0:4,h1:4, or run inside an allocation of Slurm, "
            "Flux, PBS, LSF or Grid Engine"
        )
    return cluster


def find_allocation_of(by: LauncherRequest) -> Cluster | None:
    """The hosts of the job that this runs in, or else of the launcher's own hostfile, if any.

    Raises:
        InputError: What a variable or a parameter names cannot be read or is not understood.
        LaunchError: A launcher's variable is set, and there is no launcher.
    """

    def family() -> str:
        launcher = detect(by.mpirun)
        # That of a scheduler reads no variable of an MPI's own launcher.
        return "" if isinstance(launcher, SchedulerLauncher) else launcher.family

    cluster = find_allocation(family)
    if cluster is not None:
        return cluster
    try:
        launcher = detect(by.mpirun)
    except LaunchError:  # What needs a launcher reports it.
        return None
    if isinstance(launcher, SchedulerLauncher):
        return None
    return default_hosts(launcher, by.arguments)


def name_origin(cluster: Cluster) -> str:
    """Where hosts are from that the user did not name: the scheduler's job or a launcher's file."""
    file = None if cluster.given is None else cluster.given.hostfile
    return "this allocation" if file is None else str(file)
