# SPDX-License-Identifier: Apache-2.0
"""Options of several commands."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairlead.act.plan.relay import DEFAULT_ZONES, RELAY_RULES
from fairlead.cli import option_kinds
from fairlead.cli.help import HOSTS, NETWORK, OUTPUT, PLACING, TRAFFIC, TUNING
from fairlead.cli.parsers import probability, relay_zones, time_limit
from fairlead.decide import placement
from fairlead.decide.placement import METHODS
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


Ranks = Annotated[
    int | None,
    option_kinds.num_ranks("Number of ranks. Without it as many as the launcher starts by itself."),
]


def _hostfile(without: str) -> Any:
    return typer.Option(
        metavar="FILE",
        rich_help_panel=HOSTS,
        help="Hosts and slots, in Open MPI's or MPICH's form; also spelled -machinefile or -f. "
        f"Without it {without}.",
    )


Hostfile = Annotated[Path | None, _hostfile("the hosts of the job's allocation")]
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
    option_kinds.file(
        "A .net.npz file, or probe: to measure now in any case, or tcp: to do so without MPI.",
        NETWORK,
    ),
]
TrafficFile = Annotated[
    Path | None,
    option_kinds.file(
        "A .traffic.npz or .csv file, Open MPI's monitoring (NAME.RANK.prof), or trace: to trace "
        "now in any case.",
        TRAFFIC,
    ),
]
First = Annotated[
    Literal["auto", "twice"],
    option_kinds.name(
        ("auto", "twice"),
        "auto: a program that was not traced before is run once, with tracing, and the next run is "
        "placed. twice: it is started again at once, placed.",
        TRAFFIC,
        metavar="auto|twice",
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
        "the mean time of the hosts; or sum of traffic times cost. For optimize, "
        "scotch-best, scotch-groups and scotch-hosts, and for the decision of run.",
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
    float | None, option_kinds.duration("Maximum time for the probe.", NETWORK, "no limit")
]
RunBudget = Annotated[
    float | None,
    option_kinds.parsed(
        time_limit,
        "TIME",
        "Maximum time for choosing the placement, including the probe; the first rehearsal takes "
        "place in any case. --tune has a time limit of its own.",
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
        time_limit, "TIME", "Maximum time for the method optimize, for example 5s.", PLACING
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
    Literal["auto", "never"],
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
