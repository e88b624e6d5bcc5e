# SPDX-License-Identifier: Apache-2.0
"""`fairlead lab`: an emulated cloud on this machine, for experiments."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from fairlead.cli.help import App
from fairlead.cli.output import JsonOption, print_json, print_lines, progress, stdout, warn
from fairlead.errors import LabError
from fairlead.lab import Lab, packaged_scenarios
from fairlead.lab.addresses import LOGIN
from fairlead.lab.checking import WrongPair
from fairlead.lab.checking_delays import WrongDelay
from fairlead.lab.delaying import DelayBy
from fairlead.lab.state import live_labs
from fairlead.report import lab_view

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help=f"A TOML file, or one of: {', '.join(packaged_scenarios())}.",
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
    help="Emulate a cloud on this machine: hosts with an uneven network between them.",
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
    """Start a lab, print the rate and delay of each pair, and check them.

    Exit code 1 if a pair is off by more than a tenth; the lab stays up in any case.
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
        print_json(lab_view.facts_of_new_lab(lab, topology, delay_by, wrong, wrong_delays))
    else:
        stdout.print(lab_view.view(lab, topology, delay_by, stdout.width))
        print_lines([f"Try: fairlead lab exec {lab.name} -- sh"])
    problems = lab_view.problem_lines(lab, wrong, wrong_delays)
    for line in problems:
        warn(line)
    if problems:
        raise LabError(
            f"{len(problems)} pairs are off by more than 10 %; "
            f"is this machine busy? (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
        )


@_lab.command("exec", epilog="Example: fairlead lab exec two-racks --host h3 -- ip address")
def execute(
    name: NameArgument,
    command: CommandArgument,
    host: Annotated[str, typer.Option(metavar="HOST", help="Host to run on.")] = LOGIN,
) -> None:
    """Run a command in a lab, by default on its head node, where mpirun needs no options."""
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
    """Start a lab, run a command on its head node, and take the lab down.

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
    """Make one directed pair slower while the lab runs, or cut off a pair or a whole host."""
    lab = Lab.attach(name)
    if host is not None and (src, dst, ratio) == (None, None, None):
        lab.cut_host(host)
    elif host is None and src is not None and dst is not None and ratio is not None:
        lab.degrade(src, dst, ratio)
    else:
        raise typer.BadParameter("give either SRC DST RATIO or --host")
    if as_json:
        print_json(lab_view.facts_with_rates(lab, lab.shaped_Bps()))


@_lab.command(epilog="Example: fairlead lab load torus --pair h0,h8 --pair h2,h10")
def load(
    name: NameArgument,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Two hosts that send to one another; repeatable."),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="End all these pairs instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let pairs of hosts stream 1 MiB messages both ways, until --stop or the end of the lab."""
    if stop == bool(pair):
        raise typer.BadParameter("give either --pair or --stop")
    lab = Lab.attach(name)
    if stop:
        num_pairs = lab.end_loads()
        if as_json:
            print_json({"ended": num_pairs})
        return
    pairs = [_two_hosts(each) for each in pair or []]
    for one, other in pairs:
        lab.add_load(one, other)
    if as_json:
        print_json({"pairs": pairs})


def _two_hosts(text: str) -> tuple[str, str]:
    one, comma, other = text.partition(",")
    if not comma or not one or not other:
        raise typer.BadParameter(f"--pair: expected two hosts A,B, got {text!r}")
    return one, other


@_lab.command(epilog="Example: fairlead lab down --all")
def down(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of the lab.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Take all your labs down.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take a lab down: end all its processes and remove its namespaces and links."""
    if (name is None) != every:
        raise typer.BadParameter("give either a NAME or --all")
    names = live_labs() if name is None else [name]
    for each in names:
        Lab.attach(each).down()
    if as_json:
        print_json({"down": names})


@_lab.command("list", epilog="Example: fairlead lab list --json")
def list_labs(as_json: JsonOption = False) -> None:
    """List the labs that are up; folders of crashed ones are removed."""
    labs = [Lab.attach(name) for name in live_labs()]
    if as_json:
        print_json([lab_view.facts(lab) for lab in labs])
    elif not labs:
        warn("no lab is up; fairlead lab up SCENARIO brings one up")
    else:
        print_lines(map(lab_view.line, labs))
