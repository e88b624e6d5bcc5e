# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus scrapes the hosts of an emulated cloud; its metrics move running tasks.

h0 ... h5, each with a node_exporter, on one switch; h2 and h3 stream to one another. The tasks in
the middle of the program's grid, which send most, begin on these two.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from launchers import wait_until

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.lab import Lab, Scenario
from fairlead.lab.addresses import address_of_host, login_address
from fairlead.model.topology import Topology, ends_only
from fairlead.model.topology.tree import links_of_tree

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

NIC_BPS = 50e6
CLOUD = Scenario.model_validate({"name": "scraped", "hosts": 6, "nic": "400Mbit/s"})
FAIRLEAD = [sys.executable, "-m", "fairlead"]
EXPORTER_PORT, PROMETHEUS_PORT, ORACLE_PORT = 9100, 9090, 8765
BUSY_RATIO = 0.5

Start = Callable[[Sequence[str], str], "subprocess.Popen[str]"]


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab.up(CLOUD) as lab:
        yield lab


@pytest.fixture
def start(lab: Lab) -> Iterator[Start]:
    """Starts services in the lab, which end with the test."""
    with contextlib.ExitStack() as services:

        def run(command: Sequence[str], host: str) -> subprocess.Popen[str]:
            service = services.enter_context(
                subprocess.Popen(
                    lab.command(command, host),
                    env=os.environ | lab.env, stderr=subprocess.PIPE, text=True,
                )
            )  # fmt: skip
            services.callback(service.terminate)
            return service

        yield run


def start_prometheus(lab: Lab, start: Start, folder: Path) -> None:
    """An exporter on each host, and on the head node Prometheus, which scrapes them."""
    targets = []
    for index, host in enumerate(lab.hosts):
        address = f"{address_of_host(index)}:{EXPORTER_PORT}"
        exporter = ["prometheus-node-exporter", f"--web.listen-address={address}",
                    "--collector.disable-defaults", "--collector.netdev"]  # fmt: skip
        start(exporter, host)
        targets.append({"targets": [address], "labels": {"host": host}})
    scrapes = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [{"job_name": "node", "static_configs": targets}],
    }
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(scrapes))
    prometheus = ["prometheus", f"--config.file={folder}/prometheus.yml",
                  f"--storage.tsdb.path={folder}/data",
                  f"--web.listen-address={login_address()}:{PROMETHEUS_PORT}"]  # fmt: skip
    start(prometheus, "login")


def start_oracle(lab: Lab, start: Start, folder: Path) -> str:
    """The service on the head node; its URL."""
    hosts = tuple(lab.hosts)
    names = [*(f"host {host}" for host in hosts), "switch"]
    links = links_of_tree(names, np.full(len(names), NIC_BPS))
    topology = folder / "cloud.topo.npz"
    Topology(hosts, links, ends_only(len(hosts)), ("network",) * len(hosts)).save(topology)
    metrics = f"prometheus:http://{login_address()}:{PROMETHEUS_PORT}"
    oracle = start(
        [*FAIRLEAD, "oracle", "serve", str(topology), "--metrics", metrics, "--every", "1s",
         "--host", login_address(), "--port", str(ORACLE_PORT)],
        "login",
    )  # fmt: skip
    assert oracle.stderr is not None
    assert any("answers on" in line for line in oracle.stderr)
    return f"http://{login_address()}:{ORACLE_PORT}"


def is_busy(lab: Lab, url: str) -> bool:
    """Whether the scraped counters show the stream, and all other hosts at rest."""
    query = [*FAIRLEAD, "oracle", "query", ",".join(lab.hosts), "--url", url, "--metric", "bw",
             "--window", "10s", "--json"]  # fmt: skip
    done = lab.run(query, capture_output=True, text=True, check=True)
    used = np.array(json.loads(done.stdout)["metrics"]["bw"]["values"], dtype=float)
    return bool(used[2, 3] > BUSY_RATIO and used[0, 1] < 0.1)


def test_real_scrape_drives_a_real_remap(lab: Lab, start: Start, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="the extra fairlead[oracle] is not installed")
    for program in ("prometheus", "prometheus-node-exporter"):
        assert shutil.which(program), f"this test needs Debian's package {program}"
    start_prometheus(lab, start, tmp_path)
    url = start_oracle(lab, start, tmp_path)
    lab.add_load("h2", "h3")
    wait_until(lambda: is_busy(lab, url))

    done = lab.run(
        ["mpirun.openmpi", "--host", ",".join(f"{host}:1" for host in lab.hosts), "-n", "6",
         "-x", f"FAIRLEAD_ORACLE={url}?metric=bw&window_s=10",
         str(find(detect("mpirun.openmpi")).example("spmv")),
         "--size", "12", "--vectors", "16", "--products", "40", "--every", "20", "--gain", "0"],
        capture_output=True, text=True,
    )  # fmt: skip

    assert done.stdout.endswith("PASSED\n"), done.stdout + done.stderr
    assert re.search(r"remappings +1 asked for, 1 moved tasks, 0 without", done.stdout)
