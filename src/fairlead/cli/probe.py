# SPDX-License-Identifier: Apache-2.0
"""`fairlead probe`: measure latency and bandwidth between all hosts and write them to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fairlead.act import launch
from fairlead.cli import given_options, option_kinds, options
from fairlead.cli.help import NETWORK
from fairlead.cli.mpirun_spellings import SpelledCommand
from fairlead.cli.output import (
    JsonOption,
    TerminalNarrator,
    print_json,
    print_lines,
    progress,
    require_folder,
)
from fairlead.cli.process_age import process_age_s
from fairlead.cli.request_options import HostOptions, LauncherOptions, MeasuringOptions
from fairlead.flows.inputs.alongside import EFFECT_ON_RESULT, announce_to_others
from fairlead.measure.probe import PRECISIONS
from fairlead.measure.probe import probe as measure
from fairlead.measure.sampling import SampleDesign
from fairlead.narrator import Narrator
from fairlead.report import probe_view
from fairlead.seed import MAX_SEED
from fairlead.units import format_duration

EXAMPLE = "Example: fairlead probe --hostfile hosts.txt --full -o cloud.net.npz"


def _defaults(field: str, unit: str = "") -> str:
    return ", ".join(
        f"{getattr(precision, field):g}{unit} ({mode})" for mode, precision in PRECISIONS.items()
    )


Full = Annotated[
    bool,
    typer.Option(
        "--full/--quick",
        rich_help_panel=NETWORK,
        help="Send 1 B and 8 MiB, which is exact and slow, or 1 KiB only, which is fast.",
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        metavar="RATIO",
        rich_help_panel=NETWORK,
        show_default=_defaults("target_ratio"),
        help="A pair is done when the 95 % interval of its median is this narrow, relative to the "
        "median.",
    ),
]
Cap = Annotated[
    int | None,
    option_kinds.whole_number(
        "Maximum number of samples of a pair.", NETWORK, _defaults("max_samples")
    ),
]
Sample = Annotated[
    bool,
    typer.Option(
        "--sample",
        rich_help_panel=NETWORK,
        help="Measure a part of the pairs and estimate the others, with error bars; as many as "
        "are useful, with 9 hosts or more.",
    ),
]
SampleRatio = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        rich_help_panel=NETWORK,
        help="Measure this share of the pairs, for example 0.2; implies --sample.",
    ),
]
SampleSeed = Annotated[
    int,
    typer.Option(
        min=0,
        max=MAX_SEED,
        metavar="N",
        rich_help_panel=NETWORK,
        help="With --sample: seed of the choice of the pairs.",
    ),
]
Concurrency = Annotated[
    int,
    option_kinds.whole_number(
        "Pairs measured at the same time; 1 if they share a link. 0: all that have no host in "
        "common, or fewer if the hosts are containers on one machine.",
        NETWORK,
        least=0,
    ),
]
Timeout = Annotated[
    float | None,
    option_kinds.duration(
        "End the launcher after this time.", NETWORK, _defaults("timeout_s", "s")
    ),
]
ReachTimeout = Annotated[
    float,
    option_kinds.duration(
        "Time within which each host must answer before the launch.", NETWORK, "10s"
    ),
]
SilenceTimeout = Annotated[
    float,
    option_kinds.duration(
        "Silence after which a host is given up while measuring.", NETWORK, "10s"
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("probe", epilog=EXAMPLE, cls=SpelledCommand)(probe)


def probe(
    context: typer.Context,
    hosts: HostOptions,
    launcher: LauncherOptions,
    measuring: MeasuringOptions,
    output: Annotated[Path, option_kinds.output("File to write.")] = Path("network.net.npz"),
    full: Full = False,
    budget: options.Budget = None,
    target: Target = None,
    cap: Cap = None,
    sample: Sample = False,
    sample_ratio: SampleRatio = None,
    seed: SampleSeed = 0,
    concurrency: Concurrency = 0,
    reach_timeout: ReachTimeout = 10.0,
    silence_timeout: SilenceTimeout = 10.0,
    timeout: Timeout = None,
    as_json: JsonOption = False,
) -> None:
    """Measure latency and bandwidth between all hosts, in both directions.

    One process per host takes part in a tournament; no host is in two measurements at the same
    time.
    """
    if not sample and sample_ratio is None:
        given_options.refuse(context, {"seed"}, "needs --sample")
    mode: Literal["quick", "full"] = "full" if full else "quick"
    require_folder(output)
    by = launcher.request()
    cluster = hosts.cluster(by)
    narrator = Narrator() if as_json else TerminalNarrator()
    with (
        announce_to_others(cluster.hosts, "probe", narrator, EFFECT_ON_RESULT),
        progress(f"measuring {cluster.num_hosts} hosts") as on_progress,
    ):
        network = measure(
            launch.detect(by.mpirun),
            cluster,
            mode,
            target_ratio=target,
            max_samples=cap,
            budget_s=budget,
            sample=SampleDesign(sample_ratio, seed=seed)
            if sample or sample_ratio is not None
            else None,
            concurrency=concurrency,
            skip_unreachable=measuring.skip_unreachable,
            reach_timeout_s=reach_timeout,
            silence_timeout_s=silence_timeout,
            timeout_s=timeout,
            launcher_args=by.arguments,
            contention=measuring.contention,
            on_progress=on_progress,
        )
    network.save(output)
    if as_json:
        print_json(probe_view.facts(network, output))
    else:
        took = f"took {format_duration(process_age_s())} since the command began"
        print_lines([*probe_view.lines(network, output), took])
