# SPDX-License-Identifier: Apache-2.0
"""All sources of metrics by name."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.measure.metrics.host import HostSource
from fairlead.measure.metrics.http import without_credentials
from fairlead.measure.metrics.lab import LabSource
from fairlead.measure.metrics.ldms_source import (
    WANTED,
    Authentication,
    LdmsCommandSource,
    LdmsFileSource,
    LdmsModuleSource,
)
from fairlead.measure.metrics.mapped_prometheus import MappedSource
from fairlead.measure.metrics.prometheus import TICK_S, PrometheusSource
from fairlead.measure.metrics.prometheus_api import PrometheusApi
from fairlead.measure.metrics.series import MetricSource
from fairlead.measure.metrics.slingshot import CxiSource
from fairlead.units import parse_duration

Options = Mapping[str, str]


class Source(NamedTuple):
    """One kind of source.

    Attributes:
        open: Makes the source from what follows its name, options, and headers of HTTP.
        form: How it is written.
        summary: What it is, in one line.
        options: What may follow after `?`.
    """

    open: Callable[[str, Options, Mapping[str, str]], MetricSource]
    form: str
    summary: str
    options: frozenset[str] = frozenset()


def _prometheus(rest: str, options: Options, headers: Mapping[str, str]) -> MetricSource:
    step, tick = options.get("step"), options.get("tick")
    url, credentials = without_credentials(rest)
    return PrometheusSource(
        url,
        headers={**credentials, **headers},
        host_label=options.get("host", ""),
        step_s=None if step is None else parse_duration(step),
        selector=options.get("select", ""),
        tick_s=TICK_S if tick is None else parse_duration(tick),
        devices=_devices(options),
    )


def _map(rest: str, options: Options, headers: Mapping[str, str]) -> MetricSource:
    url, credentials = without_credentials(rest)
    if not options.get("map"):
        raise InputError(f"prom:{url}: needs a map: --map FILE.toml")
    step = options.get("step")
    headers = {**credentials, **headers}
    api = PrometheusApi(url, headers, None if step is None else parse_duration(step))
    return MappedSource(api, Path(options["map"]))


def _devices(options: Options) -> list[str]:
    """Patterns of devices, as in `?device=eth*,ib0`."""
    return [pattern for pattern in options.get("device", "").split(",") if pattern]


def _ldms_daemon(rest: str, options: Options, headers: Mapping[str, str]) -> MetricSource:
    host, port = _address("ldmsd", rest)
    transport = options.get("transport", "sock")
    command = ["ldms_ls", "-h", host, "-p", str(port), "-x", transport, "-l"]
    command += _authentication(options).arguments()
    schemas = _schemas(options)
    # Each name is a basic regular expression of POSIX: several alternatives are several names.
    command += ["-E", "-S", *schemas] if schemas else []
    return LdmsCommandSource(f"ldmsd:{rest}", command)


def _ldms_module(rest: str, options: Options, headers: Mapping[str, str]) -> MetricSource:
    return LdmsModuleSource(
        *_address("ldms-python", rest),
        options.get("transport", "sock"),
        authentication=_authentication(options),
        schemas=_schemas(options),
    )


def _authentication(options: Options) -> Authentication:
    return Authentication(options.get("auth", ""), options.get("conf", ""))


def _schemas(options: Options) -> Sequence[str]:
    """Schemas that are asked for: `?sets=procnet,my_sampler`; empty: all."""
    if "sets" not in options:
        return WANTED
    return [name for name in options["sets"].split(",") if name]


def _address(name: str, rest: str) -> tuple[str, int]:
    host, _, port = rest.partition(":")
    if not host or not port.isdecimal():
        raise InputError(f"{name}:{rest}: expected {name}:HOST:PORT")
    return host, int(port)


SOURCES: dict[str, Source] = {
    "prometheus": Source(
        _prometheus,
        "prometheus:URL",
        "raw samples of node_exporter and the exporters for InfiniBand, by Prometheus' HTTP API",
        frozenset({"device", "host", "step", "select", "tick"}),
    ),
    "prom": Source(
        _map,
        "prom:URL",
        "any series of a Prometheus, by the --map that says which quantity of which port they are",
        frozenset({"map", "step"}),
    ),
    "ldms": Source(
        lambda rest, _options, _headers: LdmsFileSource(Path(rest)),
        "ldms:FILE",
        "what ldms_ls -l printed, with -f json or without; the file is read again",
    ),
    "ldmsd": Source(
        _ldms_daemon,
        "ldmsd:HOST:PORT",
        "an LDMS daemon, by ldms_ls; ?auth=munge, ovis or none, &conf=FILE, &sets=SCHEMA,...",
        frozenset({"auth", "conf", "sets", "transport"}),
    ),
    "ldms-python": Source(
        _ldms_module,
        "ldms-python:HOST:PORT",
        "an LDMS daemon, by LDMS' Python module",
        frozenset({"auth", "conf", "sets", "transport"}),
    ),
    "host": Source(
        lambda rest, options, _headers: HostSource(rest, devices=_devices(options)),
        "host:[NAME]",
        "physical ports of this host, and what AWS held back",
        frozenset({"device"}),
    ),
    "lab": Source(
        lambda rest, _options, _headers: LabSource(rest),
        "lab:NAME",
        "links of a torus of fairlead lab",
    ),
    "cxi": Source(
        lambda rest, options, _headers: CxiSource(Path(rest), options.get("host", "")),
        "cxi:FOLDER",
        "Slingshot's counters of this host: /sys/class/cxi, or the folder of one adapter",
        frozenset({"host"}),
    ),
}
"""Each is a file or a function of one; a further one is a line here."""


def open_source(
    text: str, headers: Mapping[str, str] | None = None, metric_map: Path | None = None
) -> MetricSource:
    """The source that a user named.

    Args:
        text: `NAME:REST`, with options after `?`.
        headers: Headers of HTTP, where that is used.
        metric_map: Stands for `?map=` of a source that has none.

    Raises:
        InputError: The name or an option is unknown.
    """
    name, colon, rest = text.partition(":")
    if not colon or name not in SOURCES:
        forms = ", ".join(source.form for source in SOURCES.values())
        raise InputError(f"metrics {text!r}: expected one of {forms}")
    rest, _, query = rest.partition("?")
    options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    unknown = [option for option in options if option not in SOURCES[name].options]
    if unknown:
        allowed = ", ".join(sorted(SOURCES[name].options)) or "none"
        raise InputError(f"metrics {text!r}: unknown option {unknown[0]!r}; there are {allowed}")
    if metric_map is not None and "map" in SOURCES[name].options:
        options.setdefault("map", str(metric_map))
    return SOURCES[name].open(rest, options, headers or {})
