# SPDX-License-Identifier: Apache-2.0
"""The user's options of `fairlead run` or `compare`, and the hosts to use."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

from fairlead.act.launch import allocated_cluster, detect, read_hostfile
from fairlead.act.plan.relay import DEFAULT_ZONES, RELAY_RULES
from fairlead.decide.placement import DEFAULT_OBJECTIVE
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster


@dataclasses.dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks.
        hostfile: Hosts and slots, or the file with them; None takes Slurm's allocation.
        mpirun: The launcher; None looks for it.
        launcher_args: Arguments passed to the launcher unchanged.
        network: A `.net.npz` file, or "probe:" to measure now; None measures unless a profile of
            the same hosts younger than `max_age_s` is kept.
        traffic: A `.traffic.npz` file, or "trace:" to trace now; None traces the program unless it
            was traced before.
        mode: How the network is measured, "quick" or "full".
        budget_s: Bound on the time of the probe, in `run` on that of the decision; None for the
            default.
        rule: When `run` uses a placement.
        contention: Also find shared bottlenecks, if the network has to be measured.
        max_age_s: Age up to which a kept profile is used again.
        skip_unreachable: Leave out hosts that do not answer.
        metric: How traffic is weighted, "bytes" or "messages".
        objective: Objective that selects among placements, one of
            `fairlead.decide.placement.OBJECTIVES`.
        time_limit_s: When the method "optimize" is to stop; None: by the number of ranks.
        seed: Seed of all random choices.
        directory: Folder of this run; None makes one under the user's state folder.
        reorder: Topologies that the program makes with `reorder=1` are placed by the network.
        relay_bytes: Messages of at least this size may go by way of other hosts; None: none do.
        relay_rule: By which they take paths, one of `fairlead.act.plan.relay.RELAY_RULES`.
        relay_zones: Where the zones medium and high of the rule "mcm" begin.
        tune: "auto" times the program's collectives on its placement if they take enough of its
            time, and lets those follow schedules that are faster.
        plan: Folder of a plan by `fairlead tune`, whose collectives are used; None for none.
    """

    program: tuple[str, ...]
    num_ranks: int
    hostfile: Path | Cluster | None = None
    mpirun: str | None = None
    launcher_args: tuple[str, ...] = ()
    network: str | None = None
    traffic: Path | None = None
    mode: Literal["quick", "full"] = "quick"
    budget_s: float | None = None
    rule: Rule = DEFAULT_RULE
    contention: bool = False
    max_age_s: float = 3600.0
    skip_unreachable: bool = False
    metric: Literal["bytes", "messages"] = "bytes"
    objective: str = DEFAULT_OBJECTIVE
    time_limit_s: float | None = None
    seed: int = 0
    directory: Path | None = None
    reorder: bool = False
    relay_bytes: int | None = None
    relay_rule: str = RELAY_RULES[0]
    relay_zones: tuple[float, float] = DEFAULT_ZONES
    tune: Literal["auto", "never"] = "never"
    plan: Path | None = None


def require_ranks(file: Path, num_ranks: int, wanted: int, remedy: str) -> None:
    """Check that a file which the user named is for as many ranks as are to run.

    Raises:
        InputError: It is not; the message ends with the remedy.
    """
    if num_ranks != wanted:
        raise InputError(f"{file}: is for {num_ranks} ranks, but {wanted} are to run; {remedy}")


def hosts_of(hostfile: Path | Cluster | None, mpirun: str | None = None) -> Cluster:
    """Hosts as given, from the hostfile, or from the allocation that this runs in.

    Args:
        hostfile: Hosts, or the file with them.
        mpirun: The launcher, whose own variable may name a hostfile; None looks for it.

    Raises:
        InputError: There is neither.
        LaunchError: A launcher's variable is set, and there is no launcher.
    """
    if isinstance(hostfile, Cluster):
        return hostfile
    if hostfile is not None:
        return read_hostfile(hostfile)

    def family_and_major() -> tuple[str, int]:
        launcher = detect(mpirun)
        return launcher.family, launcher.version[0]

    cluster = allocated_cluster(family_and_major)
    if cluster is None:
        raise InputError(
            "no hosts: give --hostfile FILE or -H h0:4,h1:4, or run inside an allocation of Slurm, "
            "PBS, LSF or Grid Engine"
        )
    return cluster
