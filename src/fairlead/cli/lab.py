# SPDX-License-Identifier: Apache-2.0
"""`fairlead lab`: an emulated cloud on this machine, to try everything on."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Group

from fairlead.cli.help import App
from fairlead.cli.output import JsonOption, print_json, progress, stdout
from fairlead.errors import LabError
from fairlead.lab import Lab, packaged_scenarios
from fairlead.lab.addresses import LOGIN
from fairlead.lab.checking import WrongPair
from fairlead.lab.checking_delays import WrongDelay
from fairlead.lab.delaying import DelayBy
from fairlead.lab.state import live_labs
from fairlead.lab.topology import Matrix
from fairlead.report.network_view import between_hosts
from fairlead.report.scales import BITS_PER_SECOND, SECONDS, Scale
from fairlead.report.terminal_heatmap import heatmap
from fairlead.units import format_bit_rate, format_duration

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help=f"A TOML file, or one that ships: {', '.join(packaged_scenarios())}.",
    ),
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of a lab that is up.")]
NameOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default="the scenario's", help="Name of the lab."),
]
HostsOption = Annotated[
    int | None,
    typer.Option(metavar="N", show_default="the scenario's", help="Number of hosts."),
]
CommandArgument = Annotated[list[str], typer.Argument(metavar="-- COMMAND", help="What to run.")]

_lab = App(
    help="An emulated cloud on this machine: hosts with an uneven network between them.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_lab, name="lab")


@_lab.command(epilog="Example: fairlead lab up two-racks --name test")
def up(
    scenario: ScenarioArgument,
    name: NameOption = None,
    hosts: HostsOption = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not check rates and delays by quick transfers.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a lab up, print what each pair is shaped and delayed to, and check it.

    Exit code 1 when a pair is off by more than a tenth; the lab stays up all the same.
    """
    with Lab.up(scenario, name, hosts) as lab:
        topology, delay_by = lab.topology(), lab.delay_by()
        is_delayed = delay_by is not DelayBy.nothing
        wrong: list[WrongPair] = []
        wrong_delays: list[WrongDelay] = []
        if not no_check:
            with progress("checking rates") as on_progress:
                wrong = lab.check(on_progress)[1]
            wrong_delays = lab.check_delays()[1] if is_delayed else []
        lab.keep()
    if as_json:
        print_json(
            _facts(lab, topology.shaped_Bps())
            | {"delay_s": topology.delay_s.tolist(), "delay_by": delay_by.value}
            | {"wrong_pairs": [dataclasses.asdict(pair) for pair in wrong]}
            | {"wrong_delays": [dataclasses.asdict(pair) for pair in wrong_delays]}
        )
    else:
        stdout.print(_heatmap(lab, "rate", topology.shaped_Bps(), BITS_PER_SECOND))
        if is_delayed:
            what = f"delay by {delay_by.value}"
            stdout.print(_heatmap(lab, what, topology.delay_s, SECONDS, is_low_bright=True))
        stdout.print(f"Try: fairlead lab exec {lab.name} -- sh", highlight=False)
    _report(lab, wrong, wrong_delays)


def _report(lab: Lab, wrong: list[WrongPair], wrong_delays: list[WrongDelay]) -> None:
    """Name the pairs that are not what they should be, and fail where there are any."""
    for pair in wrong:
        print(
            f"fairlead: lab {lab.name!r}: {pair.src} -> {pair.dst} is shaped to "
            f"{format_bit_rate(pair.shaped_Bps)}, but carries {format_bit_rate(pair.measured_Bps)}",
            file=sys.stderr,
        )
    for late in wrong_delays:
        takes = "no packet arrives"
        if late.measured_s is not None:
            takes = f"a packet takes {format_duration(late.measured_s)}"
        print(
            f"fairlead: lab {lab.name!r}: {late.src} -> {late.dst} is delayed by "
            f"{format_duration(late.delay_s)}, but {takes}",
            file=sys.stderr,
        )
    if wrong or wrong_delays:
        raise LabError(
            f"{len(wrong) + len(wrong_delays)} pairs are off by more than 10 %; "
            f"is this machine busy? (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
        )


@_lab.command("exec", epilog="Example: fairlead lab exec two-racks --host h3 -- ip address")
def execute(
    name: NameArgument,
    command: CommandArgument,
    host: Annotated[str, typer.Option(metavar="HOST", help="Host to run on.")] = LOGIN,
) -> None:
    """Run a command in a lab, by default on its head node, where mpirun works as it is."""
    lab = Lab.attach(name)
    argv = lab.command(command, host)
    os.execve(argv[0], argv, {**os.environ, **lab.env})


@_lab.command(epilog="Example: fairlead lab run two-racks -- mpirun -n 32 ./solver")
def run(
    scenario: ScenarioArgument,
    command: CommandArgument,
    name: NameOption = None,
    hosts: HostsOption = None,
) -> None:
    """Bring a lab up, run a command on its head node, and take the lab down.

    The command finds the host file in $FAIRLEAD_LAB_HOSTFILE. Its exit code is passed on.
    """
    with Lab.up(scenario, name, hosts) as lab:
        returncode = lab.run(command).returncode
    raise typer.Exit(returncode if returncode >= 0 else 128 - returncode)


@_lab.command(epilog="Example: fairlead lab degrade two-racks h0 h1 0.1")
def degrade(
    name: NameArgument,
    src: Annotated[str | None, typer.Argument(help="Sending host.")] = None,
    dst: Annotated[str | None, typer.Argument(help="Receiving host.")] = None,
    ratio: Annotated[
        float | None, typer.Argument(help="The pair's rate is multiplied by this; 0 cuts it.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Cut this host off instead, as if it had crashed."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make one directed pair slower while the lab runs, or cut a pair or a whole host off."""
    lab = Lab.attach(name)
    if host is not None and (src, dst, ratio) == (None, None, None):
        lab.cut_host(host)
    elif host is None and src is not None and dst is not None and ratio is not None:
        lab.degrade(src, dst, ratio)
    else:
        raise typer.BadParameter("give either SRC DST RATIO or --host")
    if as_json:
        print_json(_facts(lab, lab.shaped_Bps()))


@_lab.command(epilog="Example: fairlead lab down --all")
def down(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of the lab.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Take all your labs down.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take a lab down: all its processes, namespaces and links are gone then."""
    if (name is None) != every:
        raise typer.BadParameter("give either a NAME or --all")
    names = live_labs() if name is None else [name]
    for each in names:
        Lab.attach(each).down()
    if as_json:
        print_json({"down": names})


@_lab.command("list", epilog="Example: fairlead lab list --json")
def list_labs(as_json: JsonOption = False) -> None:
    """List the labs that are up; what crashed ones left behind is removed."""
    labs = [Lab.attach(name) for name in live_labs()]
    if as_json:
        print_json([_summary(lab) for lab in labs])
        return
    for lab in labs:
        stdout.print(
            f"{lab.name}: {len(lab.hosts)} hosts, {lab.hostfile}", highlight=False, soft_wrap=True
        )


def _summary(lab: Lab) -> dict[str, Any]:
    return {"name": lab.name, "hosts": lab.hosts, "hostfile": str(lab.hostfile)}


def _facts(lab: Lab, shaped_Bps: Matrix) -> dict[str, Any]:
    rates = [[rate if math.isfinite(rate) else None for rate in row] for row in shaped_Bps]
    return _summary(lab) | {"shaped_Bps": rates}


def _heatmap(
    lab: Lab, what: str, values: Matrix, family: tuple[Scale, ...], *, is_low_bright: bool = False
) -> Group:
    """Values of all pairs; the middle ones of blocks where the terminal has no room for all."""
    return heatmap(
        between_hosts(values),
        lab.hosts,
        title=f"{lab.name}: {what} from row to column",
        family=family,
        reduce=np.nanmedian,
        width=stdout.width,
        is_low_bright=is_low_bright,
    )
