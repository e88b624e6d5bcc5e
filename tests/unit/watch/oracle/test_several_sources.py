# SPDX-License-Identifier: Apache-2.0
"""Several servers of Prometheus: each knows some hosts, and one is gone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.measure.metrics.series import MetricError
from fairlead.model.topology import Topology, ends_only
from fairlead.model.topology.tree import links_of_tree
from fairlead.watch.oracle import Oracle, Question

HOSTS = ("n1", "n2")


class Server(PrometheusSource):
    """Scrapes one host, which sends and receives 1 GB each second."""

    def __init__(self, host: str | None):
        super().__init__(f"http://of-{host}")
        self._scraped = host

    def _fetch(self, path: str, form: Mapping[str, str]) -> Any:
        if self._scraped is None:
            raise MetricError("http://of-nobody: cannot be reached")
        now_s = time.time()
        result = [
            {
                "metric": {"__name__": name, "host": self._scraped, "device": "eth0"},
                "values": [[now_s - 10, "0"], [now_s, "1e10"]],
            }
            for name in ("node_network_receive_bytes_total", "node_network_transmit_bytes_total")
            if name in form["query"]
        ]
        return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def oracle(*sources: PrometheusSource) -> Oracle:
    links = links_of_tree([*(f"host {host}" for host in HOSTS), "switch"], np.full(3, 1e10))
    found = Oracle(Topology(HOSTS, links, ends_only(2), ("network",) * 2), sources)
    found.collector.read_all()
    return found


def test_hosts_of_two_servers_are_known_together() -> None:
    answer = oracle(Server("n1"), Server("n2")).ask(Question(HOSTS, ("bw",)))

    assert answer.metrics["bw"].coverage[0, 1] == 1
    np.testing.assert_allclose(answer.metrics["bw"].values[0, 1], 0.1, rtol=0.01)


def test_server_that_is_gone_costs_its_hosts_alone() -> None:
    answer = oracle(Server("n1"), Server(None)).ask(Question(HOSTS, ("bw",)))

    assert answer.metrics["bw"].coverage[0, 1] == 0.5
    np.testing.assert_allclose(answer.metrics["bw"].values[0, 1], 0.1, rtol=0.01)
