# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus, VictoriaMetrics and node_exporter: a real scrape of real counters."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from fairlead.errors import Error
from fairlead.measure.metrics import Quantity, Series, open_source
from fairlead.measure.metrics.prometheus import PrometheusSource
from fairlead.model.topology import Topology, ends_only
from fairlead.model.topology.tree import links_of_tree
from fairlead.watch.oracle import Oracle, Question

pytestmark = [pytest.mark.slow]

SCRAPES = """global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: node
  static_configs:
  - targets: ['127.0.0.1:{exporter}']
    labels: {{host: node001}}
"""

LONGEST_S = 120.0
"""Until the first samples are there: these machines may be busy."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_until(is_true: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + LONGEST_S
    while not is_true():
        assert time.monotonic() < end_s, f"{what} within {LONGEST_S} s"
        time.sleep(0.2)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def exporter() -> Iterator[int]:
    """node_exporter of this machine, with its network alone."""
    program = shutil.which("prometheus-node-exporter")
    assert program, "this test needs Debian's package prometheus-node-exporter"
    port = free_port()
    with subprocess.Popen(
        [program, f"--web.listen-address=127.0.0.1:{port}", "--collector.disable-defaults",
         "--collector.netdev", "--collector.netclass"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/metrics"), "node_exporter answers")
        yield port
        process.kill()


@pytest.fixture(params=["prometheus", "victoria-metrics"])
def engine(request: pytest.FixtureRequest, exporter: int, tmp_path: Path) -> Iterator[str]:
    """An engine that scrapes it once a second."""
    program = shutil.which(request.param)
    assert program, f"this test needs Debian's package {request.param}"
    scrapes = tmp_path / "scrapes.yml"
    scrapes.write_text(SCRAPES.format(exporter=exporter))
    port = free_port()
    commands = {
        "prometheus": [
            f"--config.file={scrapes}", f"--storage.tsdb.path={tmp_path}/data",
            f"--web.listen-address=127.0.0.1:{port}", "--web.route-prefix=/metrics-of-us",
        ],
        "victoria-metrics": [
            f"-promscrape.config={scrapes}", f"-storageDataPath={tmp_path}/data",
            f"-httpListenAddr=127.0.0.1:{port}", "-http.pathPrefix=/metrics-of-us",
            "-memory.allowedBytes=64MB",
        ],
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}/metrics-of-us"
    with subprocess.Popen(
        [program, *commands[request.param]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_until(lambda: answers(f"{url}/api/v1/labels"), f"{request.param} answers")
        yield url
        process.kill()


FEDERATION = """global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: federate
  honor_labels: true
  metrics_path: {path}/federate
  params: {{'match[]': ['{{job="node"}}']}}
  static_configs:
  - targets: ['{server}']
"""


@pytest.fixture
def federation(engine: str, tmp_path: Path) -> Iterator[str]:
    """A Prometheus that has the series of another one."""
    server, _, path = engine.removeprefix("http://").partition("/")
    scrapes = tmp_path / "federation.yml"
    scrapes.write_text(FEDERATION.format(server=server, path=f"/{path}"))
    port = free_port()
    words = ["prometheus", f"--config.file={scrapes}", f"--storage.tsdb.path={tmp_path}/federated"]
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [*words, f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_until(lambda: answers(f"{url}/api/v1/labels"), "the federation answers")
        yield url
        process.kill()


def read(url: str, step_s: float | None = None) -> dict[tuple[str, bool, Quantity], Series]:
    source = PrometheusSource(url, step_s=step_s, selector='job="node"')
    return {series.key: series for series in source.read(time.time(), 60.0)}


RECEIVED = ("host node001", True, Quantity.carried_bytes)


def has_samples(url: str, count: int, step_s: float | None = None) -> bool:
    series = read(url, step_s).get(RECEIVED)
    return series is not None and int(np.isfinite(series.values).sum()) >= count


@pytest.mark.parametrize("step_s", [None, 1.0])
def test_scraped_counters_come_back_as_samples(engine: str, step_s: float | None) -> None:
    wait_until(lambda: has_samples(engine, 5, step_s), "five samples are there")

    series = read(engine, step_s)[RECEIVED]

    assert np.all(np.diff(series.times_s) > 0)
    assert np.all(np.diff(series.values) >= 0)
    assert abs(series.times_s[-1] - time.time()) < 60


@pytest.mark.parametrize("engine", ["prometheus"], indirect=True)
def test_a_federation_has_the_hosts_of_its_servers(federation: str) -> None:
    wait_until(lambda: has_samples(federation, 3), "three samples are there")

    series = read(federation)[RECEIVED]

    # By the host's label, and not by the server that was federated.
    assert series.host_names[0] == "node001"
    assert np.all(np.diff(series.times_s) > 0)


MAP = """
[[series]]
metric = 'node_network_receive_bytes_total{job="node",device!="lo"}'
quantity = "carried_bytes"
link = "into"
host = "{host}"
device = "{device}"
take = { host = "([a-z]+)001" }
"""


@pytest.mark.parametrize("engine", ["prometheus"], indirect=True)
def test_any_series_of_an_engine_is_taken_by_a_map(engine: str, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(MAP)
    wait_until(lambda: has_samples(engine, 3), "three samples are there")

    found = open_source(f"prom:{engine}", metric_map=tmp_path / "map.toml").read(time.time(), 60.0)

    assert {one.key for one in found} == {("host node", True, Quantity.carried_bytes)}
    assert all(len(one.values) >= 3 for one in found)


def test_selector_without_a_match_is_missing_and_not_0(engine: str) -> None:
    source = PrometheusSource(engine, selector='job="nobody"')

    assert source.read(time.time(), 60.0) == []


def test_wrong_selector_is_named_by_the_engine(engine: str) -> None:
    with pytest.raises(Error, match=r"/api/v1/query: answers 4\d\d .*pars"):
        PrometheusSource(engine, selector="job=").read(time.time(), 60.0)


def test_oracle_tells_what_the_engine_scraped(engine: str) -> None:
    hosts = ("node001", "node002")
    names = [*(f"host {host}" for host in hosts), "switch"]
    links = links_of_tree(names, np.full(3, 1e10))
    topology = Topology(hosts, links, ends_only(2), ("network",) * 2)
    oracle = Oracle(topology, [PrometheusSource(engine)])
    wait_until(lambda: has_samples(engine, 3), "three samples are there")

    oracle.collector.read_all()
    metrics = oracle.ask(Question(hosts, ("bw", "free_Bps"))).metrics

    assert 0 <= metrics["bw"].values[0, 1] < 1
    assert metrics["bw"].coverage[0, 1] == 0.5  # nobody counts at node002
    assert 0 < metrics["free_Bps"].values[1, 0] <= 1e10
