# SPDX-License-Identifier: Apache-2.0
"""Options of several commands, and their conversion to a request."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.act.launch import parse_hostfile
from fairlead.act.plan.relay import DEFAULT_ZONES, RELAY_RULES
from fairlead.cli import option_kinds
from fairlead.cli.help import HOSTS, NETWORK, OUTPUT, PLACING, TRAFFIC, TUNING
from fairlead.cli.parsers import probability, relay_zones, split_arguments, time_limit
from fairlead.decide import placement
from fairlead.decide.placement import METHODS
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.flows.request import Request
from fairlead.measure.network_sources import source_kind
from fairlead.model.cluster import Cluster
from fairlead.seed import MAX_SEED
from fairlead.units import parse_size


class Metric(str, enum.Enum):
    """How traffic is weighted."""

    bytes = "bytes"
    messages = "messages"


class Objective(str, enum.Enum):
    """The objective that selects among placements."""

    sum = "sum"
    bottleneck = "bottleneck"
    bottleneck_and_mean = "bottleneck-and-mean"


DEFAULT_OBJECTIVE = Objective(placement.DEFAULT_OBJECTIVE)


class Mode(str, enum.Enum):
    """How the network is measured."""

    quick = "quick"
    full = "full"


Ranks = Annotated[int, option_kinds.num_ranks("Number of ranks.")]


def _hostfile(without: str) -> Any:
    return typer.Option(
        metavar="FILE",
        rich_help_panel=HOSTS,
        help="Hosts and slots, in Open MPI's or MPICH's form; also spelled -machinefile or -f. "
        f"Without it {without}.",
    )


Hostfile = Annotated[Path | None, _hostfile("Slurm's allocation")]
TraceHostfile = Annotated[Path | None, _hostfile("the hosts that the launcher chooses")]
Hosts = Annotated[
    str | None,
    typer.Option(
        "-H",
        "--host",
        metavar="HOSTS",
        rich_help_panel=HOSTS,
        help="Hosts, separated by commas, instead of a hostfile: h0:4,h1:4, or h0,h1 with one "
        "slot each.",
    ),
]
Mpirun = Annotated[
    str | None,
    typer.Option(
        metavar="PROGRAM",
        rich_help_panel=HOSTS,
        show_default="$FAIRLEAD_MPIRUN, then mpirun",
        help="The MPI launcher.",
    ),
]
LauncherArgs = Annotated[
    str,
    typer.Option(
        metavar="ARGS",
        rich_help_panel=HOSTS,
        help="Further arguments for the launcher, in one string.",
    ),
]
Method = Annotated[
    str,
    option_kinds.name(METHODS, "Mapping method; fairlead map --help lists them.", PLACING),
]
NetworkSource = Annotated[
    str | None,
    option_kinds.file("A .net.npz file, or probe: to measure now in any case.", NETWORK),
]
TrafficFile = Annotated[
    Path | None,
    option_kinds.file(
        "A .traffic.npz file, or trace: to trace the program now in any case.", TRAFFIC
    ),
]
MetricOption = Annotated[
    Metric,
    typer.Option(
        metavar="bytes|messages",
        rich_help_panel=PLACING,
        help="How traffic is weighted: bytes by bandwidth, messages by latency; for the methods "
        "scotch... and geometric, and for optimize with --objective sum.",
    ),
]
ObjectiveOption = Annotated[
    Objective,
    typer.Option(
        metavar="|".join(choice.value for choice in Objective),
        rich_help_panel=PLACING,
        help="bottleneck: the time of the network's busiest part; bottleneck-and-mean: that plus "
        "the mean time of the hosts; or sum of traffic times cost.",
    ),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--probe",
        metavar="quick|full",
        rich_help_panel=NETWORK,
        help="How the network is measured if it must be.",
    ),
]


Budget = Annotated[
    float | None, option_kinds.duration("Most time for the probe.", NETWORK, "no limit")
]
RunBudget = Annotated[
    float | None,
    option_kinds.parsed(
        time_limit,
        "TIME",
        "Most time for choosing the placement, including the probe; the first rehearsal takes "
        "place in any case. What --tune times is beside that.",
        NETWORK,
        "3.8s for 8 hosts, 7.8s for 32",
    ),
]
Risk = Annotated[
    float,
    option_kinds.parsed(
        probability,
        "PART",
        "Largest accepted probability that the placement loses more than 2 % of the time on "
        "the network, by the rehearsals so far. It holds for each look at them; several looks "
        "accept a bad placement somewhat more often.",
        PLACING,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=PLACING,
        help="Measure, trace and decide, print the decision, and start nothing.",
    ),
]
Contention = Annotated[
    bool,
    typer.Option(
        "--contention",
        rich_help_panel=NETWORK,
        help="After the pairs, run flows together to find the capacity of each host's interface "
        "and the pairs that share a bottleneck.",
    ),
]
MaxAge = Annotated[
    float,
    option_kinds.duration(
        "Greatest age at which a kept profile of the same hosts is used again.", NETWORK, "1h"
    ),
]
SkipUnreachable = Annotated[
    bool,
    typer.Option(
        "--skip-unreachable",
        rich_help_panel=NETWORK,
        help="Leave out hosts that do not answer.",
    ),
]
TimeLimit = Annotated[
    float | None,
    option_kinds.parsed(
        time_limit, "TIME", "Most time for the method optimize, for example 5s.", PLACING
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_SEED,
        metavar="N",
        help="Seed of the random choices that methods make.",
    ),
]
RunFolder = Annotated[
    Path | None,
    typer.Option(
        "--run-dir",
        metavar="FOLDER",
        rich_help_panel=OUTPUT,
        help="Where the record of this run goes.",
    ),
]
Reorder = Annotated[
    bool,
    typer.Option(
        "--reorder/--no-reorder",
        rich_help_panel=PLACING,
        help="Place topologies that the program creates with reorder=1 by the measured network.",
    ),
]
Relay = Annotated[
    bool,
    typer.Option(
        "--relay/--no-relay",
        rich_help_panel=PLACING,
        help="Start a router on each host, and let large messages go around slow pairs of hosts.",
    ),
]
RelayThreshold = Annotated[
    int,
    option_kinds.parsed(
        parse_size, "SIZE", "With --relay: smaller messages always go directly.", PLACING, "64KiB"
    ),
]
RelayRule = Annotated[
    str,
    option_kinds.name(
        RELAY_RULES,
        "With --relay: how messages choose their paths. trials: whole messages on each way are "
        "compared, at first and when the program becomes slower. mcm: the zones and thresholds "
        "of the paper MCM.",
        PLACING,
        metavar="|".join(RELAY_RULES),
    ),
]
RelayZones = Annotated[
    Any,
    option_kinds.parsed(
        relay_zones,
        "MEDIUM,HIGH",
        "With --relay-rule mcm: where its zones medium and high begin, as times of what a message "
        "takes without load on the pair's best path.",
        PLACING,
        ",".join(f"{zone:g}" for zone in DEFAULT_ZONES),
    ),
]
Tune = Annotated[
    str,
    option_kinds.name(
        ("auto", "never"),
        "auto: if collectives take a considerable part of the program's time, time them on the "
        "chosen placement by the MPI's own algorithms and by schedules, and use those that are "
        "faster.",
        TUNING,
        metavar="auto|never",
    ),
]
PlanFolder = Annotated[
    Path | None,
    typer.Option(
        "--plan",
        metavar="FOLDER",
        rich_help_panel=TUNING,
        help="Collectives follow this plan, which fairlead tune has written.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        rich_help_panel=OUTPUT,
        help="Also print how well predicted costs rank the compared methods (Kendall's tau).",
    ),
]
Program = Annotated[
    list[str],
    typer.Argument(
        metavar="-- PROGRAM [ARGS]...",
        help="The program and its arguments.",
    ),
]

_OF_PROBE = frozenset({"mode", "budget", "contention", "max_age"})


def hosts_given(hostfile: Path | None, hosts: str | None) -> Path | Cluster | None:
    """The hosts that the user named in a file or one by one; None if in neither way.

    Raises:
        BadParameter: They are named in both ways.
        InputError: A name or a number of slots is not understood.
    """
    if hosts is None:
        return hostfile
    if hostfile is not None:
        raise typer.BadParameter("does not go together with --hostfile", param_hint="--host")
    return parse_hostfile(hosts.replace(",", "\n"), "--host")


def request_of(context: typer.Context) -> Request:
    """The request that the parsed parameters of `fairlead run` or `compare` describe.

    Raises:
        BadParameter: An option is for measuring, but the network is not measured.
    """
    parameters = context.params
    kind = source_kind(parameters["network"])
    if kind.is_given:
        reason = f"does not go together with --network {kind.form}: nothing is measured"
        refuse(context, _OF_PROBE, reason)
    elif not kind.may_be_kept:
        refuse(context, {"max_age"}, f"does not go together with --network {kind.form}")
    return Request(
        program=tuple(parameters["program"]),
        num_ranks=parameters["num_ranks"],
        hostfile=hosts_given(parameters["hostfile"], parameters["host"]),
        mpirun=parameters["mpirun"],
        launcher_args=split_arguments(parameters["launcher_args"]),
        network=parameters["network"],
        traffic=parameters["traffic"],
        mode=parameters["mode"].value,
        budget_s=parameters["budget"],
        rule=Rule(risk=parameters.get("risk", DEFAULT_RULE.risk)),
        contention=parameters["contention"],
        max_age_s=parameters["max_age"],
        skip_unreachable=parameters["skip_unreachable"],
        metric=parameters["metric"].value,
        objective=parameters["objective"].value,
        time_limit_s=parameters.get("time_limit"),
        seed=parameters["seed"],
        directory=parameters["run_dir"],
        reorder=parameters.get("reorder", False),
        relay_bytes=parameters["relay_threshold"] if parameters.get("relay") else None,
        relay_rule=parameters.get("relay_rule", RELAY_RULES[0]),
        relay_zones=parameters.get("relay_zones", DEFAULT_ZONES),
        tune=parameters.get("tune", "never"),
        plan=parameters.get("plan"),
    )


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the user gave this parameter."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Check that the user gave none of these parameters.

    Raises:
        BadParameter: One of them is on the command line; the message names it and the reason.
    """
    for parameter in context.command.params:
        if parameter.name in names and is_given(context, parameter.name or ""):
            raise typer.BadParameter(reason, context, param_hint=parameter.opts[0])


def require_optimize(context: typer.Context, methods: Collection[str]) -> None:
    """Check that the user gave `--time-limit` only with the method that uses it.

    Raises:
        BadParameter: "optimize" is not among the methods.
    """
    if "optimize" not in methods:
        refuse(context, {"time_limit"}, "needs the method optimize")


def require_metric_used(
    context: typer.Context, methods: Collection[str], objective: Objective
) -> None:
    """Check that the user gave `--metric` only where a method goes by it.

    Raises:
        BadParameter: None of these methods does with this objective.
    """
    if objective is Objective.sum and "optimize" in methods:
        return
    if not any(METHODS[name].uses_metric for name in methods):
        reason = (
            "has no effect here: leave it out, or choose a method scotch..., geometric, or "
            "optimize with --objective sum"
        )
        refuse(context, {"metric"}, reason)


def require_objective_used(context: typer.Context, methods: Collection[str]) -> None:
    """Check that the user gave `--objective` only where a method goes by it.

    Raises:
        BadParameter: None of these methods does.
    """
    if not any(METHODS[name].uses_objective for name in methods):
        reason = "has no effect here: leave it out, or choose optimize or a method scotch..."
        refuse(context, {"objective"}, reason)
