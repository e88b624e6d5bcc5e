# SPDX-License-Identifier: Apache-2.0
"""`fairlead order`: hosts in the order in which a pattern of communication takes least time."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

import typer

from fairlead.act.launch.order_formats import (
    ORDER_FORMATS,
    HostOrder,
    OrderFormat,
    format_of_command,
    numbers_hosts_itself,
    own_host,
)
from fairlead.cli import given_options, options
from fairlead.cli import order_options as choices
from fairlead.cli.named_hosts import hosts_named
from fairlead.cli.network_input import network_named
from fairlead.cli.output import JsonOption, TerminalNarrator, print_json, require_folder, warn
from fairlead.cli.parsers import usage
from fairlead.cli.request_options import HostOptions
from fairlead.errors import LaunchError
from fairlead.files.archive import write_text
from fairlead.flows.order.flow import OrderRequest, OrderResult
from fairlead.flows.order.flow import order as find_order
from fairlead.flows.order.rendezvous import Place, parse_place, place_of_step
from fairlead.flows.request import find_hosts
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.report import order_view

EXAMPLE = (
    "Example: fairlead order --hostfile hosts.txt --pattern ring --format hostfile -o ordered.txt"
)

_BAD_HOST = 3
"""Exit code with --fail-on-bad."""

_OF_PLACE = frozenset({"num_hosts"})
_OF_TCP = frozenset({"agent", "save_network"})


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("order", epilog=EXAMPLE)(order)


def order(
    context: typer.Context,
    host: HostOptions,
    program: choices.Program = None,
    pattern: choices.Pattern = "ring",
    size: choices.Size = 16 << 20,
    spare: choices.Spare = 0,
    network: choices.NetworkSource = None,
    agent: choices.Agent = None,
    listen: choices.Listen = None,
    join: choices.Join = None,
    num_hosts: choices.NumHosts = None,
    answer_timeout: choices.Answer = 30.0,
    skip_unreachable: options.SkipUnreachable = False,
    node: choices.Node = None,
    form: choices.Format = None,
    master_port: choices.Port = 29500,
    output: choices.Output = None,
    save_network: choices.SaveNetwork = None,
    bad_hosts: choices.BadHosts = None,
    fail_on_bad: choices.FailOnBad = False,
    execute: choices.Exec = False,
    seed: options.Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Put hosts in the order in which their ranks communicate fastest, without MPI or a trace.

    The network is measured over TCP, a pattern is placed on it, and its messages are sent in both
    orders in turns. Without a gain of 2 % the given order is kept.
    """
    kind = ORDER_FORMATS[form or format_of_command(program or []) or "names"]
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
    if as_json:
        print_json(order_view.facts(found.ordering, pattern, found.took_s))
    _write_found(found, save_network, bad_hosts)
    ordered = _host_order(found, node, master_port)
    _write(kind, ordered, output, is_printed=not (as_json or execute))
    if fail_on_bad and found.is_on_bad_host:
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
    if kind.is_of_node and (option := numbers_hosts_itself(program)):
        raise typer.BadParameter(
            f"torchrun sorts hosts by their names with {option}; without it, it takes the order",
            param_hint="PROGRAM",
        )
    if not kind.is_of_node and output is None:
        raise typer.BadParameter(
            "needs -o FILE, which the program reads; torchrun alone needs none", param_hint="--exec"
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
        return find_hosts(named), None
    if named is not None or num_hosts is not None or not place.is_own:
        if named is not None and num_hosts is not None:
            raise typer.BadParameter("the hosts are named already", param_hint="--num-hosts")
        return named, place
    return find_hosts(None), place


def _own_name(cluster: Cluster | None) -> str:
    """This machine's name among the hosts, or by itself."""
    known = None if cluster is None else own_host(cluster.hosts)
    return known or socket.gethostname()


def _write_found(found: OrderResult, network: Path | None, bad_hosts: Path | None) -> None:
    if network is not None and isinstance(found.network, Network):
        found.network.save(network)
    if bad_hosts is not None:
        write_text(bad_hosts, "".join(f"{bad.host}\n" for bad in found.ordering.bad_hosts))


def _host_order(found: OrderResult, node: str | None, port: int) -> HostOrder:
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
