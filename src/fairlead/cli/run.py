# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: all four steps, then the application."""

from __future__ import annotations

from pathlib import Path

import typer

from fairlead.act.plan.relay import DEFAULT_THRESHOLD_BYTES, DEFAULT_ZONES, RELAY_RULES
from fairlead.cli import given_options, options, request_input
from fairlead.cli.mpirun_spellings import ProgramCommand
from fairlead.cli.output import JsonOption, TerminalNarrator, announce_json
from fairlead.cli.process_age import process_age_s
from fairlead.decide.rule import DEFAULT_RULE
from fairlead.flows.request import hosts_of
from fairlead.flows.run import Announcement
from fairlead.flows.run import run as run_program
from fairlead.flows.run_on_one_host import run_on_one_host
from fairlead.narrator import Narrator
from fairlead.report import run_view
from fairlead.units import format_duration

_OF_ONE_HOST = frozenset(
    {"program", "num_ranks", "hostfile", "host", "mpirun", "launcher_args", "run_dir"}
    | {"relay", "dry_run", "as_json"}
)
"""What has an effect where there is one host; --relay gets a reason of its own."""

_AS_ON_ONE_HOST = {"tune": "never", "reorder": False}
"""Values that ask for what is done there anyway."""

EXAMPLE = "Example: fairlead run -n 32 --hostfile hosts.txt -- ./solver input.dat"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("run", epilog=EXAMPLE, cls=ProgramCommand)(run)


def run(
    context: typer.Context,
    program: options.Program,
    num_ranks: options.Ranks,
    hostfile: options.Hostfile = None,
    host: options.Hosts = None,
    method: options.Method = "optimize",
    metric: options.MetricOption = options.Metric.bytes,
    objective: options.ObjectiveOption = options.DEFAULT_OBJECTIVE,
    mpirun: options.Mpirun = None,
    launcher_args: options.LauncherArgs = "",
    network: options.NetworkSource = None,
    traffic: options.TrafficFile = None,
    mode: options.ModeOption = options.Mode.quick,
    budget: options.RunBudget = None,
    contention: options.Contention = False,
    max_age: options.MaxAge = 3600.0,
    skip_unreachable: options.SkipUnreachable = False,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    run_dir: options.RunFolder = None,
    reorder: options.Reorder = True,
    relay: options.Relay = False,
    relay_threshold: options.RelayThreshold = DEFAULT_THRESHOLD_BYTES,
    relay_rule: options.RelayRule = RELAY_RULES[0],
    relay_zones: options.RelayZones = DEFAULT_ZONES,
    tune: options.Tune = "auto",
    plan: options.PlanFolder = None,
    risk: options.Risk = DEFAULT_RULE.risk,
    dry_run: options.DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the network, trace the program, map its ranks, then run it.

    The program is started by your own launcher; its output, signals and exit code pass through.
    The first time a program is run with a number of ranks, it runs twice: first traced, then
    placed. With --json the decision is one JSON line on stderr: stdout belongs to the program.
    """
    narrator = Narrator() if as_json else TerminalNarrator()
    given_options.require_optimize(context, [method])
    given_options.require_metric_used(context, [method], objective)
    if tune == "auto" and given_options.is_given(context, "tune"):
        given_options.refuse(context, {"plan"}, "does not go together with --tune auto")
    if not relay:
        given_options.refuse(context, {"relay_threshold", "relay_rule"}, "needs --relay")
    if relay_rule != "mcm":
        given_options.refuse(context, {"relay_zones"}, "needs --relay-rule mcm")

    def announce(announcement: Announcement) -> None:
        if as_json:
            announce_json(run_view.facts(method, announcement))
        took = format_duration(process_age_s())
        narrator.tell(f"{announcement.line}; with all else {took} since the command began")
        narrator.tell(f"the record of this run: {announcement.directory}")

    request = request_input.request_of(context)
    cluster = hosts_of(request.hostfile, request.mpirun)
    if cluster.num_hosts == 1:

        def announce_folder(folder: Path) -> None:
            if as_json:
                announce_json(run_view.facts_of_one_host(folder))
            narrator.tell(f"the record of this run: {folder}")

        raise typer.Exit(
            run_on_one_host(
                request,
                cluster,
                narrator,
                announce_folder,
                is_dry=dry_run,
                unused_options=given_without_effect(context),
            )
        )
    raise typer.Exit(run_program(request, method, narrator, announce, is_dry=dry_run))


def given_without_effect(context: typer.Context) -> list[str]:
    """The options that the user gave, but that have no effect where there is one host."""
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if (name := parameter.name or "") not in _OF_ONE_HOST
        and given_options.is_given(context, name)
        and (name not in _AS_ON_ONE_HOST or context.params[name] != _AS_ON_ONE_HOST[name])
    ]
