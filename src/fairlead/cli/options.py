# SPDX-License-Identifier: Apache-2.0
"""Options of several commands."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairlead.act.plan.relay import DEFAULT_ZONES, RELAY_RULES
from fairlead.cli import option_kinds
from fairlead.cli.help import HOSTS, NETWORK, OTHERS, OUTPUT, PLACING, RELAYS, TRAFFIC, TUNING
from fairlead.cli.parsers import probability, relay_zones, time_limit
from fairlead.decide import placement
from fairlead.decide.placement import METHODS
from fairlead.flows.request import RELAY_MODES
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
    option_kinds.num_ranks(
        "Number of ranks. Without it, as many as the launcher starts by default."
    ),
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
        "slot each; h0:* has as many as the launcher chooses; +n0 is the first host of the "
        "allocation.",
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
        "A .net.npz or .topo.npz file, probe: (measure now), tcp: (measure now without MPI), or "
        "oracle:URL (ask fairlead oracle).",
        NETWORK,
    ),
]
TrafficFile = Annotated[
    Path | None,
    option_kinds.file(
        "A .traffic.npz or .csv file, a folder with the trace files of the ranks, output of Open "
        "MPI's monitoring (NAME.RANK.prof), an OTF2 trace (traces.otf2), Intel's aps-report -x, or "
        '"trace:" (trace again).',
        TRAFFIC,
    ),
]
First = Annotated[
    Literal["auto", "twice", "prefix"],
    option_kinds.name(
        ("auto", "twice", "prefix"),
        "For a program that was not traced before. auto: run it once, with tracing, and place the "
        "next run; with another input or number of ranks, place it by the traffic of the most "
        "similar run. twice: run it with tracing, then start it again at once, placed. prefix: end "
        "the traced run as soon as the traffic is known, then start it again, placed; only for a "
        "program that may end early.",
        TRAFFIC,
        metavar="auto|twice|prefix",
    ),
]
TraceLimit = Annotated[
    float,
    option_kinds.duration(
        "With --first prefix: time after which the traced run is ended in any case.",
        TRAFFIC,
        "60s",
    ),
]
MetricOption = Annotated[
    Metric,
    typer.Option(
        metavar="bytes|messages",
        rich_help_panel=PLACING,
        help="How traffic is weighted: bytes by bandwidth, messages by latency; for the methods "
        "scotch* and geometric, and for optimize with --objective sum.",
    ),
]
ObjectiveOption = Annotated[
    Objective,
    typer.Option(
        metavar="|".join(choice.value for choice in Objective),
        rich_help_panel=PLACING,
        help="What is minimised. bottleneck: the time of the network's busiest part. "
        "bottleneck-and-mean: that time plus the mean time of the hosts; where hosts differ in "
        "speed, the time of the slowest rank takes its place. sum: traffic times cost, added up. "
        "For optimize, scotch-best, scotch-groups, scotch-hosts, and run's decision.",
    ),
]
Uneven = Annotated[
    bool,
    typer.Option(
        "--uneven",
        rich_help_panel=PLACING,
        help="Where hosts differ in speed, slow ones may get fewer ranks than fast ones, as far as "
        "these have slots.",
    ),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--probe",
        metavar="quick|full",
        rich_help_panel=NETWORK,
        help="How to measure the network if there is no cached profile.",
    ),
]


Budget = Annotated[
    float | None, option_kinds.duration("Maximum time for the probe.", NETWORK, "no limit")
]
RunBudget = Annotated[
    float | None,
    option_kinds.option_of(
        time_limit,
        "TIME",
        "Maximum time for choosing the placement, including the probe. At least one rehearsal "
        "(traffic of both placements, sent in turns) is made. --tune has its own time limit.",
        NETWORK,
        "3.8s for 8 hosts, 7.8s for 32",
    ),
]
Risk = Annotated[
    float,
    option_kinds.option_of(
        probability,
        "PROBABILITY",
        "Largest accepted probability that the placement loses more than 2 % of the time on "
        "the network. The limit applies to each check of the rehearsals; as they are checked "
        "several times, a bad placement is accepted somewhat more often.",
        PLACING,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=OTHERS,
        help="Measure, trace and decide, print the decision, and do not start the placed program.",
    ),
]
Contention = Annotated[
    bool,
    typer.Option(
        "--contention",
        rich_help_panel=NETWORK,
        help="After single pairs, also measure several pairs at the same time, to find the "
        "capacity of each host's interface and the pairs that share a bottleneck.",
    ),
]
MaxAge = Annotated[
    float,
    option_kinds.duration("Maximum age of a cached profile of the same hosts.", NETWORK, "1h"),
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
    option_kinds.option_of(
        time_limit, "TIME", "Maximum time for the method optimize, for example 5s.", PLACING
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_SEED,
        metavar="N",
        help="Seed of the random numbers of the mapping methods.",
    ),
]
RunFolder = Annotated[
    Path | None,
    typer.Option(
        "--run-dir",
        metavar="FOLDER",
        rich_help_panel=OUTPUT,
        show_default="a new folder that fairlead runs lists",
        help="Folder for the record of this run.",
    ),
]
Reorder = Annotated[
    bool,
    typer.Option(
        "--reorder/--no-reorder",
        rich_help_panel=PLACING,
        help="Order the ranks of topologies that the program creates with reorder=1 by the "
        "measured network.",
    ),
]
Inside = Annotated[
    bool,
    typer.Option(
        "--inside/--no-inside",
        rich_help_panel=PLACING,
        help="Swap the CPUs of ranks on one host where ranks that exchange many bytes then share a "
        "cache or a socket. Only for ranks that the launcher binds.",
    ),
]
Relay = Annotated[
    Literal["auto", "never", "always"],
    option_kinds.name(
        RELAY_MODES,
        "Send large messages around slow pairs of hosts, by a router on each host. auto: only if a "
        "rehearsal of the program's messages is faster with relays. --relay alone means always, "
        "--no-relay means never.",
        RELAYS,
        metavar="|".join(RELAY_MODES),
    ),
]
RelayThreshold = Annotated[
    int,
    option_kinds.option_of(
        parse_size, "SIZE", "Smaller messages are always left to the MPI.", RELAYS, "64KiB"
    ),
]
RelayRule = Annotated[
    str,
    option_kinds.name(
        RELAY_RULES,
        "How the paths of large messages are selected. trials: by timing whole messages on each "
        "path, at first and when the program becomes slower. mcm: by the zones and thresholds of "
        "the paper MCM.",
        RELAYS,
        metavar="|".join(RELAY_RULES),
    ),
]
RelayZones = Annotated[
    Any,
    option_kinds.option_of(
        relay_zones,
        "MEDIUM,HIGH",
        "With --relay-rule mcm: where the zones medium and high of a message's time begin, as "
        "multiples of its time on the pair's best path without load.",
        RELAYS,
        ",".join(f"{zone:g}" for zone in DEFAULT_ZONES),
    ),
]
Tune = Annotated[
    Literal["auto", "never"],
    option_kinds.name(
        ("auto", "never"),
        "auto: if collectives take a considerable part of the program's time, time them on the "
        "chosen placement with the MPI's own algorithms and with Fairlead's schedules, and use "
        "the faster ones.",
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
        help="Plan of fairlead tune, whose algorithms the collectives use.",
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
