# SPDX-License-Identifier: Apache-2.0
"""`fairlead order`: hosts in the order in which a pattern of communication takes least time."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from fairlead.act.launch.order_formats import ORDER_FORMATS, HostOrder, OrderFormat, own_host
from fairlead.cli import given_options, option_kinds, options
from fairlead.cli.help import HOSTS, NETWORK, OUTPUT, PLACING, listed
from fairlead.cli.network_input import network_named
from fairlead.cli.output import JsonOption, TerminalNarrator, print_json, require_folder, warn
from fairlead.cli.parsers import one_of, usage
from fairlead.cli.request_options import HostOptions, hosts_named
from fairlead.errors import LaunchError
from fairlead.files.archive import write_text
from fairlead.flows.order.flow import OrderRequest, OrderResult
from fairlead.flows.order.flow import order as find_order
from fairlead.flows.order.rendezvous import Place, parse_place, place_of_step
from fairlead.flows.request import named_or_allocated
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.report import order_view
from fairlead.units import parse_size

EXAMPLE = (
    "Example: fairlead order --hostfile hosts.txt --pattern ring --format hostfile -o ordered.txt"
)

_BAD_HOST = 3
"""Exit code with --fail-on-bad."""

_OF_PLACE = frozenset({"num_hosts"})
_OF_TCP = frozenset({"agent", "save_network"})

Pattern = Annotated[
    str,
    typer.Option(
        metavar="PATTERN",
        rich_help_panel=PLACING,
        help="What the ranks send each other: ring (an allreduce around all ranks), tree (an "
        "allreduce by NCCL's double binary tree), all-to-all, grid:AxB (each rank with its "
        "neighbours), or a .traffic.npz file. Ranks of a host stay together.",
    ),
]
Size = Annotated[
    int,
    option_kinds.parsed(
        parse_size, "SIZE", "Bytes that each rank contributes to one operation.", PLACING, "16MiB"
    ),
]
Spare = Annotated[
    int,
    option_kinds.whole_number(
        "Leave out so many hosts: bad ones, then those that the pattern does best without.",
        PLACING,
        least=0,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        parser=usage(one_of(ORDER_FORMATS)),
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help=f"One of{listed(ORDER_FORMATS)}",
    ),
]
Network_ = Annotated[
    str | None,
    typer.Option(
        "--network",
        metavar="FILE",
        rich_help_panel=NETWORK,
        show_default="measured over TCP",
        help="A .net.npz file, or another source of fairlead map, such as oracle:URL.",
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        metavar="PROGRAM",
        rich_help_panel=HOSTS,
        show_default="that of an MPI launcher's variable, srun in a job of Slurm, or ssh",
        help="What starts a command on another host: PROGRAM HOST COMMAND.",
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="Wait at this address of this machine for the other hosts, which --join.",
    ),
]
Join = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        rich_help_panel=HOSTS,
        help="Where no command reaches other hosts: the command is started on each, and they meet "
        "at this host, which listens.",
    ),
]
NumHosts = Annotated[
    int | None,
    option_kinds.whole_number("With --join or --listen, instead of their names.", HOSTS),
]
Answer = Annotated[
    float,
    option_kinds.duration("Time within which all hosts must answer or join.", HOSTS, "30s"),
]
Node = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        rich_help_panel=HOSTS,
        show_default="this machine",
        help="Whose rank --format torchrun prints.",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        min=1,
        max=65535,
        metavar="N",
        rich_help_panel=OUTPUT,
        help="Port of torchrun's rendezvous on the first host.",
    ),
]
Output = Annotated[
    Path | None, option_kinds.output("File for the order, instead of standard output.")
]
SaveNetwork = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", rich_help_panel=OUTPUT, help="Also write the measured network, a .net.npz."
    ),
]
BadHosts = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Also write the names of bad hosts, one a line; the file is empty without one.",
    ),
]
FailOnBad = Annotated[
    bool,
    typer.Option(
        "--fail-on-bad",
        rich_help_panel=OUTPUT,
        help="Exit with code 3 if a host is bad; where hosts meet, if this one is.",
    ),
]
Exec = Annotated[
    bool,
    typer.Option(
        "--exec",
        rich_help_panel=OUTPUT,
        help="Then become the program, with variables that give it the order.",
    ),
]
Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- PROGRAM [ARGS]...]", help="With --exec: what is to run."),
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("order", epilog=EXAMPLE)(order)


def order(
    context: typer.Context,
    host: HostOptions,
    program: Program = None,
    pattern: Pattern = "ring",
    size: Size = 16 << 20,
    spare: Spare = 0,
    network: Network_ = None,
    agent: Agent = None,
    listen: Listen = None,
    join: Join = None,
    num_hosts: NumHosts = None,
    answer_timeout: Answer = 30.0,
    skip_unreachable: options.SkipUnreachable = False,
    node: Node = None,
    form: Format = "names",
    master_port: Port = 29500,
    output: Output = None,
    save_network: SaveNetwork = None,
    bad_hosts: BadHosts = None,
    fail_on_bad: FailOnBad = False,
    execute: Exec = False,
    seed: options.Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Put hosts in the order in which their ranks communicate fastest, without MPI or a trace.

    The network is measured over TCP, a pattern is placed on it, and its messages are sent in both
    orders in turns. Without a gain of 2 % the given order is kept.
    """
    kind = ORDER_FORMATS[form]
    _check_program(context, execute, program, kind, output)
    for file in (output, save_network, bad_hosts):
        if file is not None:
            require_folder(file)
    place = _place(context, listen, join, network)
    cluster, place = _hosts(host, place, num_hosts, network)
    if kind.is_of_node and cluster is not None:
        _ = HostOrder(cluster.hosts, cluster.slots, node or own_host(cluster.hosts)).node_rank
    request = OrderRequest(
        cluster=cluster,
        pattern=pattern,
        message_bytes=size,
        num_hosts=num_hosts,
        network=None if network in (None, "tcp:") else lambda hosts: network_named(network, hosts),
        num_spare=spare,
        agent=agent,
        place=place,
        own_name="" if place is None else _own_name(cluster),
        limit_s=answer_timeout,
        skip_unreachable=skip_unreachable,
        seed=seed,
    )
    found = find_order(request, TerminalNarrator())
    for line in order_view.lines(found.ordering, pattern, found.took_s):
        warn(line)
    bad = [host.host for host in found.ordering.bad_hosts]
    if save_network is not None and isinstance(found.network, Network):
        found.network.save(save_network)
    if bad_hosts is not None:
        write_text(bad_hosts, "".join(f"{name}\n" for name in bad))
    if as_json:
        print_json(order_view.facts(found.ordering, pattern, found.took_s))
    ordered = _ordered(found, node, master_port)
    _write(kind, ordered, output, is_printed=not (as_json or execute))
    if fail_on_bad and (found.own in bad if found.own else bad):
        raise typer.Exit(_BAD_HOST)
    if execute:
        _become(program or [], kind, ordered, output)


def _check_program(
    context: typer.Context,
    execute: bool,
    program: list[str] | None,
    kind: OrderFormat,
    output: Path | None,
) -> None:
    if program and not execute:
        raise typer.BadParameter("a program needs --exec", param_hint="PROGRAM")
    if not execute:
        return
    given_options.refuse(context, {"as_json"}, "does not go together with --exec")
    if not program:
        raise typer.BadParameter("needs a program after --", param_hint="--exec")
    if not kind.is_of_node and output is None:
        raise typer.BadParameter(
            "with this --format needs -o FILE, which the program reads", param_hint="--exec"
        )


def _place(
    context: typer.Context, listen: str | None, join: str | None, network: str | None
) -> Place | None:
    """Where hosts meet, if the user says so."""
    text = listen or join
    if listen and join:
        raise typer.BadParameter("does not go together with --listen", param_hint="--join")
    if text is None:
        given_options.refuse(context, _OF_PLACE, "needs --join or --listen")
        if network not in (None, "tcp:"):
            reason = "does not go together with --network: nothing is measured over TCP"
            given_options.refuse(context, _OF_TCP, reason)
        return None
    given_options.refuse(context, {"agent"}, "has no effect where hosts meet")
    if network not in (None, "tcp:"):
        raise typer.BadParameter("hosts that meet measure over TCP", param_hint="--network")
    return usage(lambda given: parse_place(given, listens=listen is not None))(text)


def _hosts(
    host: HostOptions, place: Place | None, num_hosts: int | None, network: str | None
) -> tuple[Cluster | None, Place | None]:
    """The hosts in the given order, and where they meet."""
    named = hosts_named(host.hostfile, host.host)
    if place is None:
        step = place_of_step() if named is None and network in (None, "tcp:") else None
        if step is not None:
            return Cluster.uniform(step[1], slots=1), step[0]
        return named_or_allocated(named), None
    if named is not None or num_hosts is not None or not place.is_own:
        if named is not None and num_hosts is not None:
            raise typer.BadParameter("the hosts are named already", param_hint="--num-hosts")
        return named, place
    return named_or_allocated(None), place


def _own_name(cluster: Cluster | None) -> str:
    """This machine's name among the hosts, or by itself."""
    known = None if cluster is None else own_host(cluster.hosts)
    return known or socket.gethostname()


def _ordered(found: OrderResult, node: str | None, port: int) -> HostOrder:
    hosts = found.ordering.hosts
    return HostOrder(
        hosts, found.ordering.slots, own=node or found.own or own_host(hosts), port=port
    )


def _write(kind: OrderFormat, ordered: HostOrder, output: Path | None, *, is_printed: bool) -> None:
    if output is not None:
        write_text(output, kind.text(ordered))
    elif is_printed:
        sys.stdout.write(kind.text(ordered))


def _become(
    program: list[str], kind: OrderFormat, ordered: HostOrder, output: Path | None
) -> NoReturn:
    if kind.variables is not None:
        os.environ.update(kind.variables(ordered, None if output is None else output.absolute()))
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(program[0], program)
    except OSError as error:
        raise LaunchError(f"{program[0]}: cannot be started: {error.strerror}") from error
