# SPDX-License-Identifier: Apache-2.0
"""`fairlead doctor`: whether a run would work here, and what to do where it would not."""

from __future__ import annotations

import typer

from fairlead.cli import options
from fairlead.cli.mpirun_spellings import SpelledCommand
from fairlead.cli.named_hosts import hosts_named
from fairlead.cli.output import JsonOption, print_json, stdout
from fairlead.cli.request_options import HostOptions, LauncherOptions
from fairlead.flows.doctor.flow import check_all
from fairlead.report import doctor_view

EXAMPLE = "Example: fairlead doctor -n 32 --hostfile hosts.txt"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("doctor", epilog=EXAMPLE, cls=SpelledCommand)(doctor)


def doctor(
    hosts: HostOptions,
    launcher: LauncherOptions,
    num_ranks: options.Ranks = None,
    as_json: JsonOption = False,
) -> None:
    """Check launcher, MPI, hosts, interfaces, clocks and binding; print a remedy for each problem.

    Give it the number of ranks, the hosts and the launcher options of your run. Exit code 1 if a
    run would fail.
    """
    by = launcher.request()
    checks = check_all(hosts_named(hosts.hostfile, hosts.host, by), by, num_ranks)
    if as_json:
        print_json(doctor_view.facts(checks))
    else:
        stdout.print(doctor_view.table(checks))
    if any(check.state == "failed" for check in checks):
        raise typer.Exit(1)
