# SPDX-License-Identifier: Apache-2.0
"""`fairlead relay`: routers and paths of runs with relayed messages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli.help import App
from fairlead.cli.output import JsonOption, TerminalNarrator, print_json, stdout
from fairlead.cli.request_options import HostOptions, LauncherOptions
from fairlead.flows.relay.serve import serve_routers
from fairlead.flows.relay.status import relay_status
from fairlead.report import relay_view

_relay = App(
    help="Keep routers for relayed messages running, and show what they carried.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_relay, name="relay")


@_relay.command(epilog="Example: fairlead relay status")
def status(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", show_default="the latest", help="Record of a run."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the path table of a run, and what its routers on this machine have forwarded."""
    found = relay_status(run)
    if as_json:
        print_json(relay_view.facts(found))
    else:
        stdout.print(relay_view.view(found))


@_relay.command(epilog="Example: fairlead relay serve --hostfile hosts.txt")
def serve(
    hosts: HostOptions,
    launcher: LauncherOptions,
) -> None:
    """Keep a router on each host until it is stopped.

    Runs of the same user with --relay on this machine use these instead of starting their own.
    Each has a key of its own, and its connections end with it.
    """
    serve_routers(hosts.cluster(launcher.request()), launcher.request(), TerminalNarrator())
