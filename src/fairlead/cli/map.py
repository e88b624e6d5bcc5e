# SPDX-License-Identifier: Apache-2.0
"""`fairlead map`: a placement from a network, a traffic and a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import typer

from fairlead.act.launch import (
    write_placement,
)
from fairlead.cli import given_options, named_hosts, options
from fairlead.cli import map_options as choices
from fairlead.cli.map_cpus import cores_for_file, find_shares, usage_of
from fairlead.cli.network_input import network_named
from fairlead.cli.output import JsonOption, print_json, print_lines, progress, stdout
from fairlead.decide.inside import METHODS_INSIDE
from fairlead.decide.placement import place
from fairlead.errors import TopologyError
from fairlead.measure.network_sources import TcpSource, TreeSource, source_kind
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.cost import Cost, TreeCost, evaluate, evaluate_on_tree
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Progress
from fairlead.report import cost_view, placement_view

EXAMPLE = (
    "Example: fairlead map --network cloud.net.npz --traffic cg.traffic.npz "
    "--cluster h0:4,h1:4 -o ranks.txt --format seq"
)

_OF_GEOMETRIC = frozenset({"rank_grid"})
_OF_OPTIMIZE = frozenset({"start", "max_moves", "fix"})
_OF_FILES = frozenset({"format", "cores"})


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("map", epilog=EXAMPLE)(map_ranks)


def map_ranks(
    context: typer.Context,
    cluster: choices.Hosts,
    network: choices.NetworkSource,
    traffic: choices.TrafficFile,
    method: choices.Method = "optimize",
    metric: options.MetricOption = options.Metric.bytes,
    objective: options.ObjectiveOption = options.DEFAULT_OBJECTIVE,
    time_limit: options.TimeLimit = None,
    rank_grid: choices.RankGrid = None,
    start: choices.Start = None,
    max_moves: choices.MostMoves = None,
    fix: choices.Fixed = None,
    uneven: options.Uneven = False,
    seed: options.Seed = 0,
    output: choices.Output = None,
    format: choices.Format = "json",
    cores: choices.CoresOfHost = None,
    inside: choices.Inside = True,
    mpirun: options.Mpirun = None,
    as_json: JsonOption = False,
) -> None:
    """Choose a host for each rank, and print the costs next to the launcher's."""
    if output is None:
        given_options.refuse(context, _OF_FILES, "needs --output")
    asks_cpus = inside and cores is None and output is not None and method in METHODS_INSIDE
    choices.require_cores(context, format, cores, may_have_cores=asks_cpus)
    hosts = named_hosts.parse_cluster(cluster)
    given_options.require_optimize(context, [method])
    if method != "optimize":
        given_options.refuse(context, _OF_OPTIMIZE, "only the method optimize has a use for it")
    if method != "geometric":
        given_options.refuse(context, _OF_GEOMETRIC, "only the method geometric has a use for it")
    kind = source_kind(network)
    if kind.is_given:
        given_options.refuse(context, {"mpirun"}, "only --network probe: starts a launcher")
    if issubclass(kind, TcpSource):
        given_options.refuse(context, {"mpirun"}, "--network tcp: starts no launcher")
    if issubclass(kind, TreeSource) and not given_options.is_given(context, "objective"):
        objective = options.Objective.sum  # The only objective that a tree has.
    given_options.require_metric_used(context, [method], objective)
    given_options.require_objective_used(context, [method])
    pattern = load_traffic(traffic)
    known = network_named(network, hosts, mpirun)
    if rank_grid is not None and isinstance(known, Network) and known.coordinates is not None:
        given_options.refuse(context, {"metric"}, "has no effect: ranks and hosts have coordinates")
    with progress("placing") as on_progress:
        chosen = place(
            pattern, known, hosts, method, metric=metric.value, objective=objective.value,
            seed=seed, time_limit_s=time_limit, max_moves=max_moves,
            start=None if start is None else Placement.load(start),
            fixed=parse_fixed(fix or []),
            on_progress=show_progress(on_progress) if method == "optimize" else None,
            rank_coordinates=None if rank_grid is None else list(np.ndindex(*rank_grid)),
            uneven=uneven,
        )  # fmt: skip
    launchers = place(pattern, known, hosts, "launcher", objective=objective.value)
    cost, launcher_cost = evaluate_on(known, chosen, pattern), None
    with contextlib.suppress(TopologyError):  # Its traffic may cross a pair without measurement.
        launcher_cost = evaluate_on(known, launchers, pattern)
    shares = find_shares(
        format if asks_cpus else None, chosen, pattern, known,
        method=method, metric=metric.value, objective=objective.value, seed=seed,
    )  # fmt: skip
    if output is not None:
        if shares is None:
            choices.require_cores(context, format, cores)
        write_placement(chosen, hosts, format, output, cores_for_file(format, cores, shares))
    if as_json:
        cpus = {"cpus_of_rank": None if shares is None else [share.cpus for share in shares]}
        print_json(cost_view.facts(chosen, cost, launcher_cost) | cpus)
        return
    stdout.print(cost_view.view({method: cost, "launcher": launcher_cost}), "")
    if output is None:
        stdout.print(placement_view.hosts_table(chosen, stdout.width))
    else:
        print_lines([usage_of(format, str(output), chosen, shares)])


def evaluate_on(
    known: Network | HostTree, placement: Placement, traffic: Traffic
) -> Cost | TreeCost:
    """The costs of a placement on a measured network, or on a declared tree.

    Raises:
        TopologyError: Traffic crosses an unmeasured pair.
    """
    if isinstance(known, HostTree):
        return evaluate_on_tree(placement, traffic, known)
    return evaluate(placement, traffic, known)


def parse_fixed(texts: list[str]) -> dict[int, str]:
    """Host of each rank from texts `RANK=HOST`.

    Raises:
        BadParameter: One of them has another form, or names a rank again.
    """
    fixed: dict[int, str] = {}
    for text in texts:
        rank, equals, host = text.partition("=")
        if not (rank.isdecimal() and equals and host):
            raise typer.BadParameter(f"--fix: expected RANK=HOST, got {text!r}")
        if int(rank) in fixed:
            raise typer.BadParameter(f"--fix: rank {rank} is given twice")
        fixed[int(rank)] = host
    return fixed


def show_progress(show: Progress) -> Callable[[int, int], bool]:
    """Shows the progress of a search, and lets it continue."""

    def on_progress(done: int, total: int) -> bool:
        show(done, total)
        return True

    return on_progress
