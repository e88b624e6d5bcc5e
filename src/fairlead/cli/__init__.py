# SPDX-License-Identifier: Apache-2.0
"""The command `fairlead`: one file per command, listed here and imported when it is called."""

from __future__ import annotations

from fairlead.cli import quiet_start  # noqa: F401

# isort: split
import importlib
import signal
import sys
from collections.abc import Callable
from importlib.metadata import version
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from fairlead import user_signals
from fairlead.cli.help import App, HelpGroup
from fairlead.cli.late_imports import import_late
from fairlead.cli.standard_streams import prepare_streams
from fairlead.cli.terminal_safe import terminal_safe
from fairlead.errors import Error

COMMANDS = {
    "demo": "Place a conjugate-gradient solver by many methods in an emulated cloud, and compare.",
    "run": "Measure the network, trace the program, map its ranks, then run it.",
    "compare": "Run a program by several methods in turns and compare the measured times.",
    "probe": "Measure latency and bandwidth between all hosts, in both directions.",
    "trace": "Run an MPI program once and write the bytes and messages between its ranks to a "
    "file.",
    "order": "Put hosts in the order in which their ranks communicate fastest, without MPI or a "
    "trace.",
    "map": "Choose a host for each rank, and print the costs next to the launcher's.",
    "tune": "Time collectives on your hosts with the MPI's own algorithms and with schedules of "
    "Fairlead.",
    "jobs": "Place several programs on shared hosts so that they delay each other little, "
    "and start them.",
    "simulate": "Simulate every message of jobs that share nodes, placed by each method.",
    "show": "Print a network, a topology, a traffic matrix, a placement, a comparison or placed "
    "jobs.",
    "runs": "List your runs, the latest last: their folders, times, and how they ended.",
    "watch": "Report, while a program runs, when the network differs from that of its placement.",
    "report": "Write a self-contained HTML page of a run: heatmaps, measured times, and "
    "conclusions.",
    "advise": "Name bad hosts, whether leaving them out helps, and how many hosts are enough.",
    "export": "Write groups of near hosts as a file for Slurm, Kubernetes or Graphviz, or as JSON.",
    "import": "Read a topology from what a cloud, a scheduler, switches or a Cray Gemini report.",
    "oracle": "Serve and query the current load of the network, from counters of its links.",
    "relay": "Keep routers for relayed messages running, and show what they carried.",
    "lab": "Emulate a cloud on this machine: hosts with an uneven network between them.",
    "doctor": "Check launcher, MPI, hosts, interfaces, clocks and binding; print a remedy for each "
    "problem.",
    "mpi": "List the MPIs that Fairlead is built for, and build it for one more.",
}
"""What each command does, as its own help begins."""

COMPLETION = ("--show-completion", "--install-completion")
"""Typer's own take no name of a shell, and without an interactive one name none."""

_MODULES = {"import": "import_topology"}
"""Modules of commands whose names no module can have."""


class _Commands(HelpGroup):
    """Loads the command that is called, and none for the list of all."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name in COMMANDS:
            loaded = App()
            module = _MODULES.get(name, name)
            with user_signals.hold_signals():
                imported = importlib.import_module(f"fairlead.cli.{module}")
            imported.register(loaded)
            self.commands[name] = typer.main.get_group(loaded).commands[name]
        return super().resolve_command(ctx, args)


app = App(
    name="fairlead",
    cls=_Commands,
    help="Makes MPI applications faster on networks whose topology is hidden.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def main(run: Callable[[], object] = app) -> None:
    """Run the command line; errors become one line on stderr and their exit code, mostly 1."""
    prepare_streams()
    import_late()
    user_signals.ignore_those_for_programs()
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) != signal.SIG_IGN:  # Below nohup it stays ignored.
            signal.signal(number, _leave)
    try:
        if sys.argv[1:2] and sys.argv[1] in COMPLETION:
            completion = importlib.import_module("fairlead.cli.shell_completion")
            sys.exit(completion.give_completion(sys.argv[1:]))
        run()
    except (Error, OSError) as error:
        print(f"fairlead: {terminal_safe(str(error) + _remedy(error))}", file=sys.stderr)
        sys.exit(error.exit_code if isinstance(error, Error) else 1)


def _remedy(error: Exception) -> str:
    return str(importlib.import_module("fairlead.act.launch.open_files").lack_of_files(error))


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End by an exception, so that every lab, process and half-written file is cleaned up."""
    sys.exit(128 + number)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"fairlead {version('fairlead')}")
        raise typer.Exit


@app.callback()
def fairlead(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Makes MPI applications faster on networks whose topology is hidden."""


def _placeholder() -> None:
    """Stands for a command that is not loaded."""


for _name, _summary in COMMANDS.items():
    app.command(_name, help=_summary)(_placeholder)
