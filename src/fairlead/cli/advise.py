# SPDX-License-Identifier: Apache-2.0
"""`fairlead advise`: which of the rented hosts to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.cli import given_options, named_hosts, option_kinds, options
from fairlead.cli.help import HOSTS, TRAFFIC
from fairlead.cli.network_input import network_named
from fairlead.cli.output import JsonOption, print_json, progress, stdout
from fairlead.cli.runs import print_latest
from fairlead.decide.hosts import advise as advise_on
from fairlead.decide.hosts import parse_prices
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.measure.network_sources import require_network
from fairlead.measure.reachable import drop_unreachable
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.cluster import Cluster
from fairlead.report.advice_view import facts as advice_facts
from fairlead.report.advice_view import view as advice_view
from fairlead.watch.past_runs import find_run, load_cluster

EXAMPLE = (
    "Example: fairlead advise cloud.net.npz --traffic cg.traffic.npz --cluster hosts.txt "
    "--prices h0=0.5,h1=0.25 --wanted-time 10s"
)

_OF_TRAFFIC = frozenset(
    {"cluster", "prices", "wanted_time", "method", "metric", "objective", "seed"}
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("advise", epilog=EXAMPLE)(advise)


def advise(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE|RUN",
            help="A .net.npz file, probe: or tcp: to measure the cluster now, or a run's folder or "
            "name, which has all three inputs; without it the latest run.",
        ),
    ] = None,
    traffic: Annotated[Path | None, option_kinds.file("A .traffic.npz file.", TRAFFIC)] = None,
    cluster: Annotated[str | None, option_kinds.cluster()] = None,
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="PRICES",
            rich_help_panel=HOSTS,
            help="Per host and hour: a file of lines HOST PRICE, h0=0.5,h1=0.25, or one number.",
        ),
    ] = None,
    wanted_time: Annotated[
        float | None, option_kinds.duration("Time that a run may take, for example 10s.", HOSTS)
    ] = None,
    method: options.Method = "scotch-best",
    metric: options.MetricOption = options.Metric.bytes,
    objective: options.ObjectiveOption = options.DEFAULT_OBJECTIVE,
    seed: options.Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Name bad hosts, whether leaving them out helps, and how many hosts are enough.

    With a network alone it only looks for bad hosts. With prices it names the cheapest hosts, for
    the wanted time if there is one. A run folder of fairlead run or compare holds network,
    traffic and hosts.
    """
    source = print_latest([run_directory.NETWORK]) if file is None else find_run(file)
    name, traffic, hosts = _find_inputs(source, traffic, cluster)
    pattern = None
    if traffic is None:
        given_options.refuse(context, _OF_TRAFFIC, "needs --traffic: how the ranks communicate")
    elif hosts is None:
        raise typer.BadParameter(
            "--traffic needs --cluster: which hosts there are, and their slots"
        )
    else:
        given_options.require_metric_used(context, [method], objective)
        given_options.require_objective_used(context, [method])
        pattern = load_traffic(traffic)
    network = require_network(network_named(name, hosts), name)
    if pattern is not None and hosts is not None:
        hosts, network = drop_unreachable(hosts, network)
    with progress("trying sets of hosts") as on_progress:
        advice = advise_on(
            network,
            pattern,
            hosts,
            prices=None
            if prices is None
            else parse_prices(prices, network.hosts if hosts is None else hosts.hosts),
            wanted_time_s=wanted_time,
            method=method,
            metric=metric.value,
            objective=objective.value,
            seed=seed,
            on_progress=on_progress,
        )
    if as_json:
        print_json(advice_facts(advice))
    else:
        stdout.print(advice_view(advice))


def _find_inputs(
    source: Path, traffic: Path | None, cluster: str | None
) -> tuple[str, Path | None, Cluster | None]:
    """Network, traffic and cluster; missing ones are taken from the run folder.

    Raises:
        InputError: The hosts cannot be read, or `source` is no run folder.
    """
    hosts = None if cluster is None else named_hosts.parse_cluster(cluster)
    if not source.is_dir():
        return str(source), traffic, hosts
    network_file, traffic_file = source / run_directory.NETWORK, source / run_directory.TRAFFIC
    if not network_file.exists():
        raise InputError(f"{source}: not a run folder: it has no {run_directory.NETWORK}")
    if traffic is None and traffic_file.exists():
        traffic = traffic_file
    return str(network_file), traffic, load_cluster(source) if hosts is None else hosts
