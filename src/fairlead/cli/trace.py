# SPDX-License-Identifier: Apache-2.0
"""`fairlead trace`: run a program once and record which ranks communicate."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from fairlead.act import launch
from fairlead.act.launch import LaunchSpec
from fairlead.cli import option_kinds, options
from fairlead.cli.mpirun_spellings import ProgramCommand
from fairlead.cli.named_hosts import hosts_named
from fairlead.cli.output import JsonOption, print_json, print_lines, require_folder
from fairlead.cli.request_options import LauncherOptions
from fairlead.errors import TraceError
from fairlead.flows.inputs.alongside import announce_to_others
from fairlead.flows.inputs.requested_job import count_ranks
from fairlead.flows.request import LauncherRequest, find_allocation_of
from fairlead.measure.trace import trace as trace_program
from fairlead.model.cluster import Cluster
from fairlead.model.coverage import Coverage
from fairlead.model.traffic import Traffic
from fairlead.report import traffic_view

EXAMPLE = "Example: fairlead trace -n 32 --hostfile hosts.txt -o solver.traffic.npz -- ./solver"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("trace", epilog=EXAMPLE, cls=ProgramCommand)(trace)


def trace(
    program: options.Program,
    *,
    num_ranks: options.Ranks = None,
    launcher: LauncherOptions,
    hostfile: options.TraceHostfile = None,
    host: options.Hosts = None,
    output: Annotated[
        Path | None, option_kinds.output("File to write.", "PROGRAM.traffic.npz")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run an MPI program once and write the bytes and messages between its ranks to a file.

    The program and its results do not change. Of a program that is ended before MPI_Finalize the
    file has what was sent until then, and says how much of the run that is. With --json its output
    goes to stderr, since stdout is for the result.
    """
    path = output or Path(f"{Path(program[0]).name}.traffic.npz")
    require_folder(path)
    by = launcher.request()
    cluster = hosts_named(hostfile, host, by)
    found = launch.detect(by.mpirun, program)
    if num_ranks is None:
        num_ranks = count_ranks(found, cluster, by.arguments)
    spec = LaunchSpec(tuple(program), num_ranks, cluster, launcher_args=by.arguments)
    shares = path.with_name(f"{path.name}.shares")
    try:
        with announce_to_others(_hosts(cluster, by), Path(program[0]).name):
            traffic = trace_program(found, spec, stdout=2 if as_json else 1, shares=shares).traffic
    except TraceError as error:
        if error.traffic is not None:
            _save_partial(error.traffic, path)
        raise
    traffic.save(path)
    if as_json:
        print_json({"file": str(path), **traffic_view.summary_facts(traffic)})
    else:
        print_lines([*traffic_view.summary_lines(traffic), f"written to {path}"])


def _hosts(named: Cluster | None, by: LauncherRequest) -> tuple[str, ...]:
    """Where the program runs: without hosts and allocation on this machine."""
    cluster = named or find_allocation_of(by)
    return (socket.gethostname(),) if cluster is None else cluster.hosts


def _save_partial(traffic: Traffic, path: Path) -> None:
    """Write what a run that did not end well has left, and say what it is."""
    traffic.save(path)
    coverage = Coverage.of_origin(traffic.origin, traffic.num_ranks)
    what = coverage.line() if coverage else "whole"
    typer.echo(f"fairlead: {path}: the trace is {what}", err=True)
