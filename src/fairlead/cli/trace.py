# SPDX-License-Identifier: Apache-2.0
"""`fairlead trace`: run a program once and write down which ranks talk to which."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import scipy.sparse as sp
import typer

from fairlead.act import launch
from fairlead.act.launch import LaunchSpec
from fairlead.cli import options
from fairlead.cli.help import OUTPUT
from fairlead.cli.mpirun_spellings import ProgramCommand
from fairlead.cli.output import JsonOption, print_json, require_folder, stdout
from fairlead.measure.trace import trace as trace_program
from fairlead.model.traffic import Traffic
from fairlead.units import format_duration, format_size

EXAMPLE = "Example: fairlead trace -n 32 --hostfile hosts.txt -o solver.traffic.npz -- ./solver"

_SHOWN_COLLECTIVES = 5

Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        show_default="PROGRAM.traffic.npz",
        help="File to write.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("trace", epilog=EXAMPLE, cls=ProgramCommand)(trace)


def trace(
    program: options.Program,
    num_ranks: options.Ranks,
    hostfile: options.TraceHostfile = None,
    host: options.Hosts = None,
    output: Output = None,
    mpirun: options.Mpirun = None,
    launcher_args: options.LauncherArgs = "",
    as_json: JsonOption = False,
) -> None:
    """Run an MPI program once and write the bytes and messages between its ranks to a file.

    The program is not changed, and neither is what it computes.
    With --json its output goes to stderr, as stdout belongs to the result.
    """
    path = output or Path(f"{Path(program[0]).name}.traffic.npz")
    require_folder(path)
    launcher = launch.detect(mpirun)
    given = options.hosts_given(hostfile, host)
    cluster = launch.read_hostfile(given) if isinstance(given, Path) else given
    arguments = options.split_arguments(launcher_args)
    spec = LaunchSpec(tuple(program), num_ranks, cluster, launcher_args=arguments)
    traffic = trace_program(launcher, spec, stdout=2 if as_json else 1).traffic
    traffic.save(path)
    if as_json:
        print_json(_facts(traffic, path))
    else:
        _print_summary(traffic, path)


def _facts(traffic: Traffic, path: Path) -> dict[str, Any]:
    return {
        "file": str(path),
        "num_ranks": traffic.num_ranks,
        "run_time_s": traffic.run_time_s,
        "sent": _sums(traffic.messages, traffic.bytes),
        "exchanged": _sums(traffic.exchange_messages, traffic.exchange_bytes),
        "collectives": [call._asdict() for call in traffic.collectives],
        "uncounted": traffic.uncounted._asdict(),
        "origin": traffic.origin,
    }


def _sums(messages: sp.csr_array | None, sizes: sp.csr_array | None) -> dict[str, int]:
    assert messages is not None and sizes is not None  # Traffic fills in what was left out.
    return {"messages": int(messages.sum()), "bytes": int(sizes.sum())}


def _print_summary(traffic: Traffic, path: Path) -> None:
    facts = _facts(traffic, path)
    lines = [
        f"{traffic.num_ranks} ranks ran for {format_duration(traffic.run_time_s)}",
        f"point to point: {facts['sent']['messages']:,} messages, "
        f"{format_size(facts['sent']['bytes'])}",
    ]
    if facts["exchanged"]["messages"]:
        exchanged = facts["exchanged"]
        lines.append(
            f"alltoall, neighbours: {exchanged['messages']:,} messages, "
            f"{format_size(exchanged['bytes'])}"
        )
    longest = sorted(traffic.collectives, key=lambda call: -call.seconds)[:_SHOWN_COLLECTIVES]
    lines += [
        f"{call.operation} of {format_size(call.message_bytes)} on {call.communicator_size} ranks: "
        f"{call.calls:,} calls, {format_duration(call.seconds)} over all ranks"
        for call in longest
    ]
    if traffic.uncounted.messages:
        lines.append(
            f"not in the file: {traffic.uncounted.messages:,} messages to processes "
            "outside of MPI_COMM_WORLD"
        )
    stdout.print("\n".join([*lines, f"written to {path}"]), soft_wrap=True, markup=False)
