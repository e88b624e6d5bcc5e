# SPDX-License-Identifier: Apache-2.0
"""What is known of the network in the forms that others read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fairlead.act.topology_formats.plain_names import plain_names
from fairlead.act.topology_formats.slurm import tree_conf
from fairlead.errors import InputError
from fairlead.model.host_groups import groups_of_topology
from fairlead.model.topology import Topology, TreeRoutes
from fairlead.watch.oracle.oracle import Oracle

__all__ = ["FORMS", "hottest_links", "prometheus_text"]

MOST_HOT_LINKS = 16
"""Number of links that are named; `/metrics` lists all."""


def prometheus_text(
    oracle: Oracle, num_answers: Mapping[int, int], busy_s: float, now_s: float
) -> str:
    """Metrics of sources, requests and links in the text form of Prometheus."""
    return "\n".join(_lines(oracle, num_answers, busy_s, now_s)) + "\n"


def _lines(
    oracle: Oracle, num_answers: Mapping[int, int], busy_s: float, now_s: float
) -> Iterator[str]:
    yield "# TYPE fairlead_oracle_source_up gauge"
    for state in oracle.collector.states:
        up = int(state.problem is None and state.last_s is not None)
        yield f'fairlead_oracle_source_up{{source="{_escape(state.name)}"}} {up}'
    yield "# TYPE fairlead_oracle_source_age_seconds gauge"
    for state in oracle.collector.states:
        if state.last_s is not None:
            age_s = max(0.0, now_s - state.last_s)
            yield (
                f'fairlead_oracle_source_age_seconds{{source="{_escape(state.name)}"}} {age_s:.3f}'
            )
    yield "# TYPE fairlead_oracle_source_failures_total counter"
    for state in oracle.collector.states:
        name = _escape(state.name)
        yield f'fairlead_oracle_source_failures_total{{source="{name}"}} {state.num_failures}'
    yield "# TYPE fairlead_oracle_requests_total counter"
    for code, number in sorted(num_answers.items()):
        yield f'fairlead_oracle_requests_total{{code="{code}"}} {number}'
    yield "# TYPE fairlead_oracle_busy_seconds_total counter"
    yield f"fairlead_oracle_busy_seconds_total {busy_s:.6f}"
    links, found = oracle.topology.links, oracle.links()
    for name, values in (
        ("fairlead_link_used_ratio", found.used_ratio),
        ("fairlead_link_stalled_ratio", found.stalled_ratio),
        ("fairlead_link_free_bytes_per_second", found.free_Bps),
    ):
        yield f"# TYPE {name} gauge"
        for link in np.flatnonzero(np.isfinite(values)).tolist():
            src, dst = _escape(links.out_ports[link]), _escape(links.in_ports[link])
            yield f'{name}{{src="{src}",dst="{dst}"}} {values[link]:.6g}'
    yield "# TYPE fairlead_oracle_sample_faults gauge"
    for kind, number in vars(found.faults).items():
        yield f'fairlead_oracle_sample_faults{{kind="{kind}"}} {number}'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def hottest_links(oracle: Oracle) -> list[dict[str, Any]]:
    """The links that messages wait for longest; where that is not counted, the fullest ones."""
    links, found = oracle.topology.links, oracle.links()
    order = np.lexsort((np.nan_to_num(found.used_ratio), np.nan_to_num(found.stalled_ratio)))[::-1]
    is_known = np.isfinite(found.used_ratio) | np.isfinite(found.stalled_ratio)
    return [
        {
            "src": links.out_ports[link],
            "dst": links.in_ports[link],
            "stalled_ratio": found.stalled_ratio[link],
            "used_ratio": found.used_ratio[link],
        }
        for link in order[is_known[order]][:MOST_HOT_LINKS].tolist()
    ]


def _ldms(oracle: Oracle) -> str:
    """A set for each port that is known, as `ldms_ls -l` prints it."""
    links, found = oracle.topology.links, oracle.links()
    is_known = np.isfinite(found.used_ratio) | np.isfinite(found.stalled_ratio)
    lines = []
    for link in np.flatnonzero(is_known).tolist():
        at = time.strftime("%a %b %d %H:%M:%S %Y +0000", time.gmtime(found.newest_s[link]))
        micro = int(found.newest_s[link] % 1 * 1e6)
        name = links.in_ports[link].replace(" ", "_")
        lines.append(f"fairlead/{name}: consistent, last update: {at} [{micro}us] ")
        for metric, values in (("used", found.used_ratio), ("stalled", found.stalled_ratio)):
            if np.isfinite(values[link]):
                lines.append(f"D f64          {metric:<42} {values[link]:.6f} ")
        lines.append("")
    return "\n".join(lines) + "\n"


def _slurm(oracle: Oracle) -> str:
    """topology.conf of a tree.

    Raises:
        InputError: The routes are those of no tree.
    """
    topology = oracle.topology
    if not isinstance(topology.routes, TreeRoutes):
        raise InputError(f"slurm: routes of a {topology.routes.kind} are no tree")
    return tree_conf(groups_of_topology(topology))


def _labels(oracle: Oracle) -> str:
    """`kubectl label` lines: router and coordinates of each node."""
    return "".join(f"{line}\n" for line in _label_lines(oracle.topology))


def _label_lines(topology: Topology) -> Iterator[str]:
    plain = plain_names(topology.router_of_host)
    for index, host in enumerate(topology.hosts):
        labels = [f"fairlead.io/router={plain[topology.router_of_host[index]]}"]
        if topology.coordinates is not None:
            at = ".".join(f"{value:g}" for value in topology.coordinates[index])
            labels.append(f"fairlead.io/coordinates={at}")
        yield f"kubectl label --overwrite node {host} {' '.join(labels)}"


FORMS: dict[str, Callable[[Oracle], str]] = {"ldms": _ldms, "slurm": _slurm, "labels": _labels}
"""What `/v1/export/NAME` gives."""
