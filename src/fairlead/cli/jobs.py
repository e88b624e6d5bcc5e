# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs`: several programs at the same time, described in one TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import given_options, map_options, named_hosts, option_kinds, options
from fairlead.cli.help import HOSTS, MODEL, OUTPUT, App
from fairlead.cli.mpirun_spellings import SpelledCommand
from fairlead.cli.output import (
    JsonOption,
    PrefixedOutput,
    TerminalNarrator,
    announce_json,
    print_json,
    print_lines,
    stdout,
    warn,
)
from fairlead.cli.request_options import HostOptions, LauncherOptions
from fairlead.decide.jobs import DEFAULT_JOB_METHOD, JOB_METHODS, MappedJobs, parse_taken
from fairlead.files.run_directory import record_line
from fairlead.flows.jobs.flow import JobsRequest, place_traced_jobs, run_jobs
from fairlead.flows.jobs.jobs_file import read_jobs_file
from fairlead.narrator import Narrator
from fairlead.report import jobs_view
from fairlead.report.simulation_view import overload_lines

_RUN_EXAMPLE = "Example: fairlead jobs run jobs.toml --hostfile hosts.txt --taken h0:2"
_MAP_EXAMPLE = "Example: fairlead jobs map jobs.toml --cluster h0:4,h1:4 -o placed --format seq"

JobsFile = Annotated[
    Path,
    typer.Argument(
        metavar="JOBS.toml",
        help='A TOML file with a table [[jobs]] for each job: program = "./cg -v" and ranks = 16, '
        'optionally name = "cg" and traffic = "cg.traffic.npz", which map needs.',
    ),
]
Method = Annotated[str, option_kinds.method(JOB_METHODS)]
Taken = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SLOTS",
        rich_help_panel=HOSTS,
        help="Slots that others use: HOST:N, the first N, or HOST=0,4-7; repeatable.",
    ),
]
MachineFile = Annotated[
    Path | None,
    option_kinds.file(
        "A TOML file whose [machine] describes the hosts: rates, sockets and cores.", MODEL
    ),
]
Scale = Annotated[
    float | None,
    option_kinds.scale("Part of the messages to simulate.", "all messages, up to 20 million"),
]
OutputFolder = Annotated[
    Path | None,
    option_kinds.output("Where a launcher's file for each job and jobs.json go.", metavar="FOLDER"),
]
Bind = Annotated[
    bool,
    typer.Option("--bind", rich_help_panel=OUTPUT, help="Rankfiles bind each rank to its core."),
]

_jobs = App(
    help="Place several programs on shared hosts so that they delay each other little, and start "
    "them.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_jobs, name="jobs")


@_jobs.command("run", epilog=_RUN_EXAMPLE, cls=SpelledCommand)
def run(
    context: typer.Context,
    file: JobsFile,
    hosts: HostOptions,
    launcher: LauncherOptions,
    method: Method = DEFAULT_JOB_METHOD,
    time_limit: options.TimeLimit = None,
    taken: Taken = None,
    machine: MachineFile = None,
    scale: Scale = None,
    seed: options.Seed = 0,
    run_dir: options.RunFolder = None,
    as_json: JsonOption = False,
) -> None:
    """Place the programs of a file together and start them at the same time.

    Each line that a program prints begins with the name of its job. The exit code is that of the
    program that failed first. With --json the placement is one JSON line on stderr.
    """
    given_options.require_optimize(context, [method])
    request = JobsRequest(
        read_jobs_file(file, "program"),
        hosts.cluster(launcher.request()),
        method,
        taken=parse_taken(taken or []),
        machine=machine,
        scale=scale,
        time_limit_s=time_limit,
        seed=seed,
        launcher=launcher.request(),
        directory=run_dir,
    )
    narrator = Narrator() if as_json else TerminalNarrator()
    output = PrefixedOutput()

    def announce(mapped: MappedJobs, folder: Path) -> None:
        output.names = [job.name for job in mapped.workload.jobs]
        if as_json:
            announce_json(mapped.as_dict())
        for line in jobs_view.announcement_lines(mapped.record()):
            narrator.report(line)
        narrator.report(record_line(folder))

    raise typer.Exit(run_jobs(request, narrator, announce, output))


@_jobs.command("map", epilog=_MAP_EXAMPLE)
def map_jobs(
    context: typer.Context,
    file: JobsFile,
    cluster: map_options.Hosts,
    method: Method = DEFAULT_JOB_METHOD,
    time_limit: options.TimeLimit = None,
    taken: Taken = None,
    machine: MachineFile = None,
    scale: Scale = None,
    seed: options.Seed = 0,
    output: OutputFolder = None,
    format: map_options.Format = "json",
    cores: map_options.CoresOfHost = None,
    bind: Bind = False,
    as_json: JsonOption = False,
) -> None:
    """Choose cores for the ranks of several jobs, and predict how long their messages wait."""
    given_options.require_optimize(context, [method])
    if output is None:
        given_options.refuse(context, {"format", "cores", "bind"}, "needs --output")
    map_options.require_cores(context, format, cores, has_cores=bind)
    request = JobsRequest(
        read_jobs_file(file, "traffic"),
        named_hosts.parse_cluster(cluster),
        method,
        taken=parse_taken(taken or []),
        machine=machine,
        scale=scale,
        time_limit_s=time_limit,
        seed=seed,
    )
    mapped = place_traced_jobs(request, TerminalNarrator())
    files = [] if output is None else mapped.write(output, format, bind=bind, cores=cores)
    if as_json:
        print_json(jobs_view.facts_of_mapping(mapped, files))
        return
    stdout.print(jobs_view.view(mapped.record(), stdout.width, has_files=bool(files)))
    print_lines(["", *jobs_view.lines_of_mapping(mapped, files)])
    for line in overload_lines([mapped.prediction]):
        warn(line)
