# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: all four steps, then the application."""

from __future__ import annotations

from pathlib import Path

import typer

from fairlead.cli import given_options, options
from fairlead.cli.mpirun_spellings import ProgramCommand
from fairlead.cli.output import JsonOption, TerminalNarrator, announce_json
from fairlead.cli.process_age import process_age_s
from fairlead.cli.request_options import (
    CollectivesOptions,
    DecisionOptions,
    HostOptions,
    LauncherOptions,
    MeasuringOptions,
    NetworkOptions,
    PlacingOptions,
    RelayOptions,
)
from fairlead.files.run_directory import record_line
from fairlead.flows.inputs.interruption import NextRunUndecided
from fairlead.flows.inputs.tracing import TRACE_NOW
from fairlead.flows.request import DEFAULT_TRACE_LIMIT_S, Request
from fairlead.flows.run.flow import Announcement
from fairlead.flows.run.flow import run as run_program
from fairlead.flows.run.one_host import run_on_one_host
from fairlead.narrator import Narrator
from fairlead.report import run_view
from fairlead.units import format_duration

_OF_ONE_HOST = frozenset(
    {"program", "num_ranks", "hostfile", "host", "mpirun", "launcher_args", "run_dir"}
    | {"relay", "dry_run", "as_json"}
)
"""What has an effect where there is one host; --relay gets a reason of its own."""

EXAMPLE = "Example: fairlead run -n 32 --hostfile hosts.txt -- ./solver input.dat"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("run", epilog=EXAMPLE, cls=ProgramCommand)(run)


def run(
    context: typer.Context,
    program: options.Program,
    *,
    num_ranks: options.Ranks = None,
    hosts: HostOptions,
    launcher: LauncherOptions,
    network: NetworkOptions,
    measuring: MeasuringOptions,
    method: options.Method = "optimize",
    placing: PlacingOptions,
    decision: DecisionOptions,
    collectives: CollectivesOptions,
    relays: RelayOptions,
    traffic: options.TrafficFile = None,
    first: options.First = "auto",
    trace_limit: options.TraceLimit = DEFAULT_TRACE_LIMIT_S,
    budget: options.RunBudget = None,
    run_dir: options.RunFolder = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the network, trace the program, map its ranks, then run it.

    Your own launcher starts the program; its output, signals and exit code pass through. The first
    run of a program is traced; later runs are placed. With --json the decision is printed as one
    line of JSON on stderr, since stdout belongs to the program.
    """
    given_options.require_optimize(context, [method])
    given_options.require_metric_used(context, [method], placing.objective)
    if first == "auto" and decision.dry_run:
        given_options.refuse(context, {"first"}, "auto does not go together with --dry-run")
    elif first == "auto" and traffic is not None:
        given_options.refuse(context, {"first"}, "auto does not go together with --traffic")
    elif first == "prefix" and traffic not in (None, TRACE_NOW):
        given_options.refuse(context, {"first"}, "prefix does not go together with --traffic FILE")
    if first != "prefix":
        given_options.refuse(context, {"trace_limit"}, "needs --first prefix")
    is_traced_apart = first == "auto" and (decision.dry_run or traffic == TRACE_NOW)
    narrator = Narrator() if as_json else TerminalNarrator()
    request = Request(
        tuple(program),
        launcher=launcher.request(),
        network=measuring.request(context, network, budget),
        traffic=traffic,
        first="twice" if is_traced_apart else first,
        may_guess=first == "auto" and traffic is None,
        trace_limit_s=trace_limit,
        placing=decision.request(method, placing.request()),
        collectives=collectives.request(context),
        relays=relays.request(context),
        directory=run_dir,
        # Last, as it may start the launcher: what is wrong with options is found before.
        **hosts.job(num_ranks, launcher, narrator, program)._asdict(),
    )

    def announce(announcement: Announcement) -> None:
        if as_json:
            announce_json(run_view.facts(method, announcement))
        narrator.report(f"{announcement.line}{_since_the_start(announcement)}")
        narrator.report(record_line(announcement.directory))

    def announce_folder(folder: Path) -> None:
        if as_json:
            announce_json(run_view.facts_of_one_host(folder))
        narrator.report(record_line(folder))

    if request.cluster.num_hosts > 1:
        try:
            raise typer.Exit(run_program(request, narrator, announce, is_dry=decision.dry_run))
        except NextRunUndecided as undecided:
            if as_json:
                announce_json(run_view.facts_of_undecided(undecided.why, undecided.directory))
            raise
    unused = given_without_effect(context, collectives, decision)
    raise typer.Exit(
        run_on_one_host(
            request, narrator, announce_folder, is_dry=decision.dry_run, unused_options=unused
        )
    )


def _since_the_start(announcement: Announcement) -> str:
    """The time that the user has waited for the start of the program."""
    if announcement.is_for_next_run:
        return ""
    waited = format_duration(process_age_s())
    return f"; {waited} from the start of the command to the start of the program"


def given_without_effect(
    context: typer.Context, collectives: CollectivesOptions, decision: DecisionOptions
) -> list[str]:
    """The options that the user gave, but that have no effect where there is one host."""
    done_anyway = {"tune"} if collectives.tune == "never" else set()
    if not decision.reorder:
        done_anyway.add("reorder")
    if not decision.inside:
        done_anyway.add("inside")
    return sorted(
        parameter.opts[0]
        for parameter in context.command.params
        if (name := parameter.name or "") not in _OF_ONE_HOST | done_anyway
        and given_options.is_given(context, name)
    )
