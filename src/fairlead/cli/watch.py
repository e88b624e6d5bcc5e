# SPDX-License-Identifier: Apache-2.0
"""`fairlead watch`: pairs, links and drift while a program runs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from fairlead.cli import option_kinds
from fairlead.cli.help import NETWORK, OUTPUT
from fairlead.cli.output import print_lines, stdout, warn
from fairlead.files.run_directory import PLACEMENT
from fairlead.flows.watch import Observation, load_run
from fairlead.flows.watch import watch as watch_run
from fairlead.report import watch_view
from fairlead.watch.past_runs import find_run, latest_run

EXAMPLE = "Example: fairlead watch --every 30s"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("watch", epilog=EXAMPLE)(watch)


def watch(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", help="The folder of a run; by default that of the latest."),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="SRC",
            rich_help_panel=NETWORK,
            show_default="the run's own",
            help="Where the network is observed: probe: or oracle:URL?metric=NAME.",
        ),
    ] = None,
    every: Annotated[
        float, option_kinds.duration("Time between two observations.", NETWORK, "10s")
    ] = 10.0,
    rounds: Annotated[
        int | None,
        option_kinds.whole_number("Most observations.", NETWORK, "until the program ends"),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", rich_help_panel=OUTPUT, help="Print each observation as one line of JSON."
        ),
    ] = False,
) -> None:
    """Report, while a program runs, when the network differs from that of its placement.

    When a pair has changed by more than 20 % in three observations (more on a busy machine), the
    plan is marked as stale, and the next run measures the network again. A program that has ended
    is observed once.
    """
    folder = latest_run([PLACEMENT]) if run is None else find_run(run)
    watched = load_run(folder, network)
    with _shown(as_json) as show:
        last = watch_run(watched, show, every_s=every, num_rounds=rounds)
    if last.is_stale:
        warn(f"the plan of {folder} is stale")


@contextlib.contextmanager
def _shown(as_json: bool) -> Iterator[Callable[[Observation], None]]:
    """On a terminal tables that stay in their place, else a line for each observation."""
    if as_json:
        yield lambda now: _write_line(json.dumps(watch_view.facts(now)))
    elif not stdout.is_terminal:
        yield lambda now: print_lines([watch_view.line(now)])
    else:
        with Live(console=stdout, auto_refresh=False) as live:
            yield lambda now: live.update(watch_view.view(now), refresh=True)


def _write_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
