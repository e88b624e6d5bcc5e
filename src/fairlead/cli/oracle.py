# SPDX-License-Identifier: Apache-2.0
"""`fairlead oracle`: what the network does now, along the routes that messages take."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairlead.act.launch import detect
from fairlead.act.monitoring import SYSTEMS, write_setup
from fairlead.cli import option_kinds
from fairlead.cli import order_options as choices
from fairlead.cli.help import App, list_names
from fairlead.cli.named_hosts import parse_cluster
from fairlead.cli.output import (
    JsonOption,
    TerminalNarrator,
    print_json,
    print_lines,
    stdout,
    warn,
)
from fairlead.cli.parsers import one_of, usage
from fairlead.cli.request_options import HostOptions
from fairlead.errors import Error
from fairlead.files.package_folders import data_folder
from fairlead.files.whole_file import read_text
from fairlead.flows.monitoring import run_monitoring
from fairlead.measure.metrics import SOURCES, MetricSource, open_source
from fairlead.measure.metrics.http import headers_from
from fairlead.measure.oracle import TOKEN_VARIABLE, ask_oracle, read_token
from fairlead.measure.probe import probe
from fairlead.model.topology import Topology
from fairlead.report import oracle_view
from fairlead.watch.oracle import METRICS, Oracle
from fairlead.watch.oracle.latencies import LatencyFile, Prober
from fairlead.watch.oracle.oracle import MOST_WINDOW_S
from fairlead.watch.oracle.source_check import check_sources

PORT = 8765

_oracle = App(
    name="oracle",
    help="Serve and query the current load of the network, from counters of its links.",
    no_args_is_help=True,
)


def _metrics() -> str:
    return "".join(f"\n{name}: {summary}" for name, summary in METRICS.items())


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.add_typer(_oracle)


@_oracle.command(
    epilog="Example: fairlead oracle serve site.topo.npz --metrics prometheus:http://monitor:9090"
)
def serve(
    topology: Annotated[
        Path, typer.Argument(metavar="FILE", help="A topology, as fairlead import writes it.")
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="Where counters are read; repeatable. One of"
            + list_names({source.form: source for source in SOURCES.values()}),
        ),
    ] = None,
    metric_map: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE.toml",
            help="For prom: which series are which quantity of which port.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Read each source once, print what of it is of which link and what is not, and "
            "end; code 1 if a source has nothing.",
        ),
    ] = False,
    latency: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Latencies as fairlead probe measured them (.net.npz); read again."
        ),
    ] = None,
    probe_hosts: Annotated[
        str | None,
        typer.Option(
            metavar="HOSTS",
            help="Instead of --latency: a few hosts h0:1,h1:1 or a hostfile, whose latencies are "
            "probed again and again by MPI.",
        ),
    ] = None,
    probe_every: Annotated[
        float,
        option_kinds.duration("How often they are probed.", None, "10min"),
    ] = 600.0,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HEADER", help="A NAME:CONTENT that is sent along to prometheus:; repeatable."
        ),
    ] = None,
    bearer_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A bearer token for prometheus:.")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to answer on.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0: any.")] = PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Answer only requests with the token in this file; or set {TOKEN_VARIABLE}.",
        ),
    ] = None,
    every: Annotated[
        float,
        option_kinds.duration("How often sources are read.", None, "10s"),
    ] = 10.0,
    stale: Annotated[
        float,
        option_kinds.duration("What is older is no value for now.", None, "60s"),
    ] = 60.0,
    rate: Annotated[
        float, typer.Option(min=1, metavar="N", help="Requests a second of one client.")
    ] = 2000.0,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded", help="Metrics are a recording: now is the time of its newest sample."
        ),
    ] = False,
) -> None:
    """Answer questions about routes until it is stopped."""
    headers = headers_from(header or [], bearer_file)
    sources = [open_source(text, headers, metric_map) for text in metrics or []]
    if metric_map is not None and not any(text.startswith("prom:") for text in metrics or []):
        raise typer.BadParameter("only prom: uses a map", param_hint="--map")
    known = Topology.load(topology)
    if dry_run:
        _print_checks(known, sources)
        return
    _require_packages()
    token = read_token(token_file)
    oracle = Oracle(
        known,
        sources,
        latency=_latencies(latency, probe_hosts, probe_every),
        stale_s=stale,
        report=warn,
    )
    if recorded:
        oracle.use_clock_of_samples()
    for problem in known.problems:
        warn(f"{topology}: {problem}")
    is_local = host in ("127.0.0.1", "::1", "localhost")
    if not is_local and not token:
        warn(f"anyone who can reach {host}:{port} gets answers; --token-file restricts access")
    from fairlead.watch.oracle.serving import run  # noqa: PLC0415 - needs the extra packages

    run(oracle, host=host, port=port, token=token, rate=rate, every_s=every)


@_oracle.command(epilog="Example: fairlead oracle query nid00050,nid00052 --metric stalls")
def query(
    nodes: Annotated[str, typer.Argument(metavar="NODES", help="Nodes h0,h1,h2 or a hostfile.")],
    url: Annotated[
        str, typer.Option(metavar="URL", help="Of the service.")
    ] = f"http://127.0.0.1:{PORT}",
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Repeatable; without it stalls. One of{_metrics()}"),
    ] = None,
    reduce: Annotated[
        str | None,
        typer.Option(
            metavar="min|max|sum",
            show_default="max; min of bandwidths",
            help="How the links of a route become one value.",
        ),
    ] = None,
    window: Annotated[
        float,
        option_kinds.duration("Time window until now.", None, "60s"),
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Ask a service about all pairs of some nodes."""
    names = list(parse_cluster(nodes).hosts)
    answer = ask_oracle(url, names, metric or ["stalls"], reduce=reduce, window_s=window)
    if as_json:
        print_json(answer)
        return
    for part in oracle_view.view(names, answer):
        stdout.print(part)


@_oracle.command(epilog="Example: fairlead oracle setup prometheus --hostfile hosts.txt")
def setup(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM", parser=usage(one_of(SYSTEMS)), help=f"One of{list_names(SYSTEMS)}"
        ),
    ],
    hosts: HostOptions,
    switches: Annotated[
        str, typer.Option(metavar="NAMES", help="Switches that are asked by SNMP: leaf1,leaf2.")
    ] = "",
    output: Annotated[
        Path | None,
        option_kinds.output("Folder of the files.", "SYSTEM", metavar="FOLDER"),
    ] = None,
    start: Annotated[
        bool,
        typer.Option(
            "--start",
            help="Also start it on all hosts, which share the folder, check that figures of each "
            "arrive, and keep it until it is interrupted.",
        ),
    ] = False,
    agent: choices.Agent = None,
    answer_timeout: Annotated[
        float,
        option_kinds.duration("With --start: time for figures to arrive.", None, "60s"),
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Write the configuration of existing monitoring for hosts that have none.

    The commands that start it are printed; none needs root.
    """
    cluster = hosts.cluster()
    named = [name for name in switches.split(",") if name]
    made = SYSTEMS[system].setup(cluster.hosts, named)
    folder = output or Path(system)
    written = write_setup(made, folder)
    if as_json:
        steps = [{"where": where, "command": command} for where, command in made.steps]
        print_json({"files": [str(path) for path in written], "steps": steps})
    else:
        print_lines([f"wrote {', '.join(map(str, written))}", "in that folder:"])
        print_lines(f"  {command}   # {where}" for where, command in made.steps)
    if start:
        stdout.file.flush()
        run_monitoring(
            *(made, folder, cluster.hosts, TerminalNarrator()), agent=agent, limit_s=answer_timeout
        )


@_oracle.command(epilog="Example: fairlead oracle dashboard > fairlead-dashboard.json")
def dashboard() -> None:
    """Print a Grafana dashboard of what Prometheus scrapes at the service's /metrics."""
    print_lines([read_text(data_folder("watch/oracle") / "dashboard.json").rstrip()])


def _print_checks(known: Topology, sources: Sequence[MetricSource]) -> None:
    """Print what sources have for a topology; exit code 1 if one has nothing for it."""
    if not sources:
        raise typer.BadParameter("without --metrics there is nothing to read")
    checks = list(check_sources(Oracle(known).store, sources, MOST_WINDOW_S))
    print_lines(line for check in checks for line in oracle_view.check_lines(check))
    if not all(check.is_well for check in checks):
        raise typer.Exit(1)


def _require_packages() -> None:
    """Say which package is missing, before a stack trace does."""
    for package in ("fastapi", "uvicorn", "orjson"):
        if importlib.util.find_spec(package) is None:
            raise Error(f"fairlead oracle serve needs {package}: pip install 'fairlead[oracle]'")


def _latencies(file: Path | None, hosts: str | None, every_s: float) -> LatencyFile | Prober | None:
    """Where latencies come from: a file, a probe that begins now, or neither."""
    if file is not None and hosts is not None:
        raise typer.BadParameter("give either --latency or --probe-hosts")
    if file is not None:
        return LatencyFile(file, warn)
    if hosts is None:
        return None
    launcher, cluster = detect(None), parse_cluster(hosts)
    prober = Prober(lambda: probe(launcher, cluster, mode="quick"), warn)
    prober.run(every_s)
    return prober
