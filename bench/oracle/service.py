# SPDX-License-Identifier: Apache-2.0
"""What the oracle takes: time of a query, queries a second, memory of a large torus.

Prints the figures of docs/reference/results/oracle.md and our limits; bench/oracle/times.py has the
times that ORACLE gives.

    .venv/bin/python bench/oracle/service.py [--seconds 5] [--short]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from paper_machine import sent_by_tasks, task_coordinates

from fairlead.measure.metrics import MetricSource, Quantity, Series
from fairlead.measure.topologies.gemini import DIRECTIONS
from fairlead.model.topology import Topology, port_name, whole_torus
from fairlead.watch.oracle import Oracle, Question
from fairlead.watch.oracle.remapping import RemapQuestion, remap

LENGTH = re.compile(rb"(?i)\r\ncontent-length: (\d+)")
NODES_OF_ROUTER = 2
LINK_BPS = 9.375e9
NODES_OF_QUERY = 16  # 256 routes, as ORACLE's 0.27 s
ROUNDS, SHORT_ROUNDS = 64, 8
"""Samples of each link."""

EVERY_S = 10.0
"""How often `fairlead oracle serve` reads sources."""


def torus(*sizes: int) -> Topology:
    """A whole torus with two nodes on each router."""
    num_hosts = NODES_OF_ROUTER * int(np.prod(sizes))
    return whole_torus(sizes, [f"nid{node:05d}" for node in range(num_hosts)], [LINK_BPS] * 3)


class Everything(MetricSource):
    """Every link has traffic and stalls, a sample every ten seconds."""

    name = "everything"

    def __init__(self, sizes: tuple[int, ...], rounds: int):
        self.ports = [port_name(place, way) for place in np.ndindex(*sizes) for way in DIRECTIONS]
        self.at_s = time.time() - EVERY_S * rounds

    def read(self, now_s: float, window_s: float) -> list[Series]:
        self.at_s = min(self.at_s + EVERY_S, now_s)
        at = np.array([self.at_s])
        return [
            Series(name, True, quantity, at, np.array([share * self.at_s]))
            for number, name in enumerate(self.ports)
            for quantity, share in (
                (Quantity.carried_bytes, 1e6 * (number % 97)),
                (Quantity.stalled_s, 0.01 * (number % 89)),
            )
        ]


def filled(*sizes: int, rounds: int) -> Oracle:
    oracle = Oracle(torus(*sizes), [Everything(sizes, rounds)])
    for _ in range(rounds):
        oracle.collector.read_all()
    return oracle


def timed(work: Callable[[], object], repeats: int) -> str:
    """Median time of some repeats, and the range of nine tenths of them."""
    times_s = []
    for _ in range(repeats):
        begun_s = time.perf_counter()
        work()
        times_s.append(time.perf_counter() - begun_s)
    low_s, median_s, high_s = np.quantile(times_s, [0.05, 0.5, 0.95])
    return f"{1e3 * median_s:.2f} ms [{1e3 * low_s:.2f}, {1e3 * high_s:.2f}]"


def in_process(short: bool) -> None:
    """Times and memory without HTTP."""
    sizes, rounds = ((10, 10, 10), SHORT_ROUNDS) if short else ((25, 10, 20), ROUNDS)
    before_s = time.perf_counter()
    oracle = filled(*sizes, rounds=rounds)
    hosts = oracle.topology.hosts
    num_links = oracle.topology.links.num_links
    print(f"torus of {len(hosts)} nodes, {num_links} links, {rounds} samples each,")
    print(f"  filled in {time.perf_counter() - before_s:.1f} s")
    spread = hosts[:: len(hosts) // NODES_OF_QUERY][:NODES_OF_QUERY]
    thousand = hosts[:: len(hosts) // 1000][:1000]

    def ask(nodes: list[str]) -> None:
        oracle.ask(Question(tuple(nodes), window_s=600))

    def read_and_ask() -> None:
        oracle.collector.read_all()
        ask(spread)

    ask(spread)
    few, many, mappings = (20, 3, 3) if short else (1000, 20, 100)
    print(f"STALLS of 256 routes: {timed(lambda: ask(spread), few)}")
    print(f"STALLS of all pairs of 1000 nodes: {timed(lambda: ask(thousand), many)} (limit: 1 s)")
    for method in ("oracle", "scotch-best", "geometric", "optimize"):
        asked = RemapQuestion(
            [spread[task // 4] for task in range(64)], range(64), sent_by_tasks(),
            method=method, window_s=600,
            coordinates_of_task=task_coordinates(),
        )  # fmt: skip
        took = timed(partial(remap, oracle, asked), mappings)
        print(f"map of 64 tasks by {method}: {took} (limit: 12 ms)")
    print(f"a round of reads and the first answer after it: {timed(read_and_ask, many)}")
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"most memory of the process: {most_kib / 2**20:.2f} GiB (limit: 1 GB)")


def recording(*sizes: int) -> str:
    """What ldms_ls -l prints of a torus whose routers report shares of time stalled, in percent."""
    update = time.strftime("%a %b %d %H:%M:%S %Y +0000", time.gmtime())
    lines = []
    for number, place in enumerate(np.ndindex(*sizes)):
        lines.append(f"nid{number:05d}/torus: consistent, last update: {update} [0us]")
        lines += [
            f"U64 {at} nettopo_mesh_coord_{axis}" for axis, at in zip("XYZ", place, strict=True)
        ]
        lines += [
            f"U64 {(7919 * number + 104729 * index) % 100_000_000} "
            f"{way}_SAMPLE_GEMINI_LINK_CREDIT_STALL (% x1e6)"
            for index, way in enumerate(DIRECTIONS)
        ]
    return "\n".join(lines)


def ask_for(port_of: int, nodes: list[str], seconds: float, results: multiprocessing.Queue) -> None:
    """Asks as fast as one connection can, and puts the times of answers into `results`.

    A library would take a core itself.
    """
    body = json.dumps({"nodes": nodes, "metrics": ["stalls"]}).encode()
    head = b"POST /v1/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    request = head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    times_s = []
    end_s = time.perf_counter() + seconds
    with socket.create_connection(("127.0.0.1", port_of), timeout=60) as connection:
        while time.perf_counter() < end_s:
            begun_s = time.perf_counter()
            connection.sendall(request)
            answer, length = b"", 0
            while (at := answer.find(b"\r\n\r\n")) < 0 or len(answer) < at + 4 + length:
                answer += connection.recv(1 << 20)
                found = LENGTH.search(answer)
                length = int(found[1]) if found else 0
            assert answer.startswith(b"HTTP/1.1 200") and b"null" not in answer, answer
            times_s.append(time.perf_counter() - begun_s)
    results.put(times_s)


def by_http(seconds: float) -> None:
    """Queries a second of 256 routes by one server process."""
    with tempfile.TemporaryDirectory() as folder:
        topology = torus(10, 10, 10)
        topology.save(Path(folder) / "torus.topo.npz")
        (Path(folder) / "ldms.txt").write_text(recording(10, 10, 10))
        command = [sys.executable, "-m", "fairlead", "oracle", "serve", "torus.topo.npz"]
        with subprocess.Popen(
            [*command, "--metrics", "ldms:ldms.txt", "--recorded", "--port", "0",
             "--rate", "100000"],
            cwd=folder, stderr=subprocess.PIPE, text=True,
        ) as server:  # fmt: skip
            assert server.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)", server.stderr.readline())
            assert found is not None
            nodes = list(topology.hosts[::125][:NODES_OF_QUERY])
            for clients in (1, 2, 4):
                results: multiprocessing.Queue = multiprocessing.Queue()
                asking = [
                    multiprocessing.Process(
                        target=ask_for, args=(int(found[1]), nodes, seconds, results)
                    )
                    for _ in range(clients)
                ]
                for process in asking:
                    process.start()
                times_s = sorted(t for _ in asking for t in results.get())
                for process in asking:
                    process.join()
                print(
                    f"by HTTP, {clients} clients: {len(times_s) / seconds:.0f} queries a second of "
                    f"256 routes, median {1e3 * times_s[len(times_s) // 2]:.2f} ms, 99 of 100 "
                    f"within {1e3 * times_s[int(0.99 * len(times_s))]:.2f} ms (limits: 1000 a "
                    "second, 5 ms)"
                )
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each row by HTTP")
    parser.add_argument("--short", action="store_true", help="a smaller torus, 0.3 s a row")
    options = parser.parse_args()
    in_process(options.short)
    by_http(0.3 if options.short else options.seconds)


if __name__ == "__main__":
    main()
