# SPDX-License-Identifier: Apache-2.0
"""A network as an oracle reports it now."""

from __future__ import annotations

import dataclasses
import datetime
import os
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.http import fetch_json, require_http
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.network import Network

__all__ = [
    "MOST_SHARING_HOSTS",
    "TOKEN_VARIABLE",
    "HotLink",
    "ask_for_tasks",
    "ask_oracle",
    "cost_network",
    "hot_links",
    "interfaces",
    "oracle_network",
    "read_token",
]

TOKEN_VARIABLE = "FAIRLEAD_ORACLE_TOKEN"
"""Environment variable: a token on a command line could be read by all on the machine."""

ANSWER_S = 10.0
"""Longest that an oracle may take for each piece of its answer."""

TASKS_S = 5.0
"""The same where all ranks of a program wait for it."""

NOMINAL_BPS = 1e9
"""Bandwidth of a link where none is known: only ratios of costs then count."""

HOP_S = 1e-6
"""Latency of a link where none is measured: only ratios count, as above."""

LEAST_SHARE = 0.01
"""Least share of a bandwidth that remains, however long its link stalls: no cost is infinite."""

MOST_SHARING_HOSTS = 256
"""Whose pairs are looked up on each link: 65,000 routes, kept from one question to the next."""

_METRICS = ("hops", "bw", "stalls", "free_Bps", "latency_s")
_OPTIONS = ("metric", "reduce", "window")

Values = npt.NDArray[np.float64]


def read_token(file: Path | None = None) -> str:
    """The token of a file, or of the environment; empty without one.

    Raises:
        InputError: The file cannot be read, or is empty.
    """
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "")
    token = read_text(file).strip()
    if not token:
        raise InputError(f"{file}: holds no token")
    return token


def ask_oracle(
    url: str,
    nodes: Sequence[str],
    metrics: Sequence[str],
    *,
    reduce: str | None = None,
    window_s: float = 60.0,
    shared_links_by: str | None = None,
) -> dict[str, Any]:
    """What an oracle answers.

    Args:
        url: URL of the service, without a path.
        nodes: Names of hosts.
        metrics: As the service calls them.
        reduce: min, max or sum; None: the usual one of each metric.
        window_s: Time window that ends now.
        shared_links_by: Metric of what is left of links that several pairs share; None:
            such links are not asked about.

    Raises:
        MetricError: It cannot be reached, or refuses; the message has its reason.
    """
    question: dict[str, Any] = {"nodes": list(nodes), "metrics": list(metrics)}
    question |= {"window_s": window_s, "shared_links_by": shared_links_by}
    if reduce is not None:
        question["reduce"] = reduce
    answer = fetch_json(
        f"{require_http(url)}/v1/query", headers=_headers(), body=question, timeout_s=ANSWER_S
    )
    if not isinstance(answer, dict) or not isinstance(answer.get("metrics"), dict):
        raise InputError(f"{url}: is not the answer of an oracle")
    return answer


class HotLink(NamedTuple):
    """A link that messages wait for.

    Attributes:
        src, dst: Names of its ports.
        stalled_ratio: Share of the time that packets waited for it; None where unknown.
        used_ratio: Share of its bandwidth that is used; None where unknown.
    """

    src: str
    dst: str
    stalled_ratio: float | None
    used_ratio: float | None


def hot_links(source: str) -> list[HotLink]:
    """The links that messages wait for longest, the worst first.

    Args:
        source: URL of an oracle; what follows `?` is left out.

    Raises:
        InputError: The answer is not one of an oracle.
        MetricError: The oracle cannot be reached, or refuses.
    """
    url = require_http(source.partition("?")[0])
    answer = fetch_json(f"{url}/v1/links", headers=_headers(), timeout_s=ANSWER_S)
    try:
        return [HotLink(*(link[name] for name in HotLink._fields)) for link in answer["links"]]
    except (KeyError, TypeError) as error:
        raise InputError(f"{url}: is not the answer of an oracle") from error


def ask_for_tasks(url: str, options: Mapping[str, str], question: Mapping[str, Any]) -> list[int]:
    """The next task of each process of a running program.

    Args:
        url: URL of the service, without a path.
        options: metric, method and window_s.
        question: The program, as `POST /v1/remap` takes it.

    Raises:
        InputError: The answer is not one of an oracle, or has not each task once.
        MetricError: The oracle cannot be reached, or refuses.
    """
    query = f"?{urllib.parse.urlencode(options)}" if options else ""
    answer = fetch_json(
        f"{require_http(url)}/v1/remap{query}",
        headers=_headers(), body=question, timeout_s=TASKS_S, whole_s=TASKS_S,
    )  # fmt: skip
    tasks = answer.get("task_of_process") if isinstance(answer, dict) else None
    if (
        not isinstance(tasks, list)
        or not all(isinstance(task, int) for task in tasks)
        or sorted(tasks) != sorted(question["task_of_process"])
    ):
        raise InputError(f"{url}: its answer gives not each task to one process")
    return tasks


def _headers() -> dict[str, str]:
    token = read_token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def oracle_network(source: str, hosts: Sequence[str]) -> Network:
    """The network between hosts by one metric.

    Args:
        source: `URL?metric=stalls`, with `reduce=max` and `window=60` (seconds) as further options.
        hosts: Names of hosts.

    Raises:
        InputError: An option is unknown, or the answer is not one of an oracle.
        MetricError: The oracle cannot be reached, or refuses.
    """
    url, _, query = source.partition("?")
    options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise InputError(
            f"oracle:{source}: unknown option {unknown[0]!r}; there are {', '.join(_OPTIONS)}"
        )
    metric = options.get("metric", "stalls")
    if metric not in _METRICS:
        raise InputError(f"oracle:{source}: metric must be one of {', '.join(_METRICS)}")
    try:
        window_s = float(options.get("window", "60"))
    except ValueError:
        raise InputError(f"oracle:{source}: window must be a number of seconds") from None
    metrics = list(dict.fromkeys(("hops", "capacity_Bps", metric)))
    answer = ask_oracle(
        url, hosts, metrics, reduce=options.get("reduce"), window_s=window_s,
        shared_links_by=metric if len(hosts) <= MOST_SHARING_HOSTS else None,
    )  # fmt: skip
    values = {name: _matrix(source, answer, name, len(hosts)) for name in metrics}
    network = cost_network(hosts, metric, values[metric], values["hops"], values["capacity_Bps"])
    network = dataclasses.replace(network, **_share_fields(source, answer, len(hosts)))
    if answer.get("coordinates") is not None:
        at = np.array(answer["coordinates"], dtype=np.float64)
        network = dataclasses.replace(network, coordinates=at)
    network.origin.update(
        {
            "oracle": url,
            "metric": metric,
            "window_s": window_s,
            "age_s": answer.get("age_s"),
            "measured": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        }
    )
    return network


def _share_fields(source: str, answer: dict[str, Any], num_hosts: int) -> dict[str, Any]:
    """What several pairs share, as fields of a network; none where the oracle was not asked."""
    try:
        groups = [
            BottleneckGroup(np.array(link["pairs"], dtype=np.int64), float(link["left_Bps"]))
            for link in answer.get("shared_links", ())
        ]
        nic_Bps = answer.get("nic_Bps")
        if nic_Bps is not None:
            nic_Bps = np.array(nic_Bps, dtype=np.float64)
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"oracle:{source}: its answer has no shared_links: {error!r}") from error
    nic_Bps = interfaces(nic_Bps, num_hosts, groups)
    return {"groups": groups, "nic_out_Bps": nic_Bps, "nic_in_Bps": nic_Bps}


def interfaces(
    nic_Bps: Values | None, num_hosts: int, groups: Sequence[BottleneckGroup]
) -> Values | None:
    """What interfaces of hosts carry, shape (H,), or None: unknown.

    The fastest pair stands for an unknown interface, as if a host used one link at a time; where
    the shared links are known, it has no bound instead.
    """
    return np.full(num_hosts, np.inf) if nic_Bps is None and groups else nic_Bps


def cost_network(
    hosts: Sequence[str], metric: str, values: Values, hops: Values, capacity_Bps: Values
) -> Network:
    """The latencies and bandwidths whose ratios are those of a metric's costs.

    A share of time stalled or of bandwidth used leaves the rest of the route's bandwidth; a hop
    costs a latency, and by the metric `hops` also as much time a byte as the first.

    Args:
        hosts: Length N.
        metric: hops, bw, stalls, free_Bps or latency_s.
        values: Values of the metric, shape (N, N); `nan` where unknown.
        hops: Links on each route, shape (N, N).
        capacity_Bps: Least bandwidth on each route, shape (N, N); `nan` where unknown or no link
            is crossed.
    """
    known_Bps = capacity_Bps[np.isfinite(capacity_Bps)]
    usual_Bps = float(known_Bps.max()) if known_Bps.size else NOMINAL_BPS
    # Where links are crossed and nothing is known of them, they are no faster than the slowest.
    slowest_Bps = float(known_Bps.min()) if known_Bps.size else NOMINAL_BPS
    base_Bps = np.where(hops > 0, slowest_Bps, usual_Bps)
    base_Bps = np.where(np.isfinite(capacity_Bps), capacity_Bps, base_Bps)
    latency_s = HOP_S * (1 + hops)
    bandwidth_Bps = base_Bps
    if metric == "hops":
        bandwidth_Bps = base_Bps / (1 + hops)
    elif metric in ("bw", "stalls"):
        left = np.maximum(1 - values, LEAST_SHARE)
        bandwidth_Bps, latency_s = base_Bps * left, latency_s / left
    elif metric == "free_Bps":
        bandwidth_Bps = np.maximum(np.where(hops > 0, values, usual_Bps), LEAST_SHARE * base_Bps)
    elif metric == "latency_s":
        latency_s = values
    np.fill_diagonal(bandwidth_Bps, np.inf)
    np.fill_diagonal(latency_s, 0.0)
    return Network(hosts, latency_s, bandwidth_Bps, origin={"how": "oracle"})


def _matrix(source: str, answer: dict[str, Any], metric: str, num_hosts: int) -> Values:
    """Values of a metric; `nan` for null."""
    try:
        values = np.array(answer["metrics"][metric]["values"], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"oracle:{source}: its answer has no {metric}: {error!r}") from error
    if values.shape != (num_hosts, num_hosts):
        raise InputError(
            f"oracle:{source}: {metric}: expected shape {(num_hosts, num_hosts)}, "
            f"got {values.shape}"
        )
    return values
