# SPDX-License-Identifier: Apache-2.0
"""The times that ORACLE gives at the end of section V, measured as far as its text says how.

    .venv/bin/python bench/oracle/times.py --item map|redistribution|hops [--runs 24] [--short]
        [--figures FILE]

The service serves ORACLE's machine with stalls by three pairs that stream. `map`: 64 processes of
spmv call fairlead_remap by the method `oracle` and STALLS: gathered tasks, one question, a serial
call of Scotch in the service, broadcast. `redistribution`: they then send matrix and vectors to
where the map puts them. Both are the slowest process's. ORACLE's processes had a core each; here
all share this machine's. `hops`: HOPS of 256 routes, a question each.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from experiment import LOADS, SAMPLE_S
from figures import Figure, mean_of, print_figures, write_figures
from flows import compiled_flows
from paper_machine import APPLICATION, host_of_rank, machine, name_of

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.model.topology import Topology

PROGRAM = ("--products", "6", "--every", "3", "--gain", "0")
"""20^3 points and 100 vectors by default, as in the paper. One call of fairlead_remap."""

AS_NODE = """exec unshare $UNSHARE --uts bash -c 'hostname "$0" && exec "$@"' \\
    "$(cut -d, -f$((OMPI_COMM_WORLD_RANK + 1)) <<< "$NODES")" "$@"
"""
"""Each process runs on a machine that calls itself by its node's name."""


def recording(topology: Topology) -> str:
    """What ldms_ls -l prints of the machine while the pairs stream."""
    with compiled_flows(topology) as flows:
        run = flows.streams_alone(LOADS["text"], SAMPLE_S, 0)
    update = time.strftime("%a %b %d %H:%M:%S %Y +0000", time.gmtime())
    lines = []
    for number, port in enumerate(topology.links.out_ports):
        place, direction = port.split()
        lines.append(f"nid{number:05d}/{direction}: consistent, last update: {update} [0us]")
        coordinates = zip("XYZ", place.split(","), strict=True)
        lines += [f"U64 {at} nettopo_mesh_coord_{axis}" for axis, at in coordinates]
        share = round(100e6 * run.full_s[number] / run.seconds)
        lines.append(f"U64 {share} {direction}_SAMPLE_GEMINI_LINK_CREDIT_STALL (% x1e6)")
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def served() -> Iterator[str]:
    """URL of a service of ORACLE's machine."""
    topology = machine()
    with tempfile.TemporaryDirectory() as folder:
        topology.save(Path(folder) / "curie.topo.npz")
        (Path(folder) / "ldms.txt").write_text(recording(topology))
        command = [sys.executable, "-m", "fairlead", "oracle", "serve", "curie.topo.npz"]
        with subprocess.Popen(
            [*command, "--metrics", "ldms:ldms.txt", "--recorded", "--port", "0",
             "--rate", "100000"],
            cwd=folder, stderr=subprocess.PIPE, text=True,
        ) as service:  # fmt: skip
            assert service.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", service.stderr.readline())
            assert found is not None
            try:
                yield found[0]
            finally:
                service.terminate()


def run_spmv(url: str) -> dict[str, float]:
    """Seconds of the map and of the redistribution, of 64 processes named as ORACLE's nodes."""
    launcher = detect("mpirun.openmpi")
    hosts = host_of_rank()
    variables = {
        "FAIRLEAD_ORACLE": f"{url}?metric=stalls&method=oracle",
        "NODES": ",".join(hosts),
        "UNSHARE": "" if os.geteuid() == 0 else "-Ur",
    }
    exported = [word for name in variables for word in ("-x", name)]
    done = subprocess.run(
        ["mpirun.openmpi", "--oversubscribe", "-n", str(len(hosts)), *exported,
         "bash", "-c", AS_NODE, "bash", find(launcher).example("spmv"), *PROGRAM],
        env=os.environ | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.endswith("PASSED\n"), done.stdout + done.stderr
    assert "1 asked for, 1 moved tasks, 0 without" in done.stdout, done.stdout + done.stderr
    printed = re.findall(r"^(asking_s|moving_s) +(\S+)", done.stdout, re.MULTILINE)
    return {name: float(value) for name, value in printed}


def measure_spmv(key: str, name: str, paper_s: float, runs: int) -> list[Figure]:
    with served() as url:
        times_s = [run_spmv(url)[key] for _ in range(runs)]
    return [mean_of(name, "s", paper_s, times_s)]


def measure_map(runs: int) -> list[Figure]:
    return measure_spmv("asking_s", "map and broadcast, 64 processes", 0.012, runs)


def measure_redistribution(runs: int) -> list[Figure]:
    return measure_spmv("moving_s", "redistribution of matrix and vectors", 0.004, runs)


def measure_hops(runs: int) -> list[Figure]:
    """HOPS of the 256 routes by a question each, and by one question for all."""
    nodes = [name_of(node) for node in APPLICATION]
    pairs = [[src, dst] for src in nodes for dst in nodes]
    with served() as url:
        address = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)

        def ask(asked: list[str]) -> None:
            body = json.dumps({"nodes": asked, "metrics": ["hops"]})
            connection.request("POST", "/v1/query", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200 and b"hops" in answer.read()

        single_s, whole_s = [], []
        for _ in range(runs):
            begun_s = time.perf_counter()
            for pair in pairs:
                ask(pair)
            middle_s = time.perf_counter()
            ask(nodes)
            single_s.append(middle_s - begun_s)
            whole_s.append(time.perf_counter() - middle_s)
    return [
        mean_of("HOPS of 256 routes, a question each", "s", 0.27, single_s),
        mean_of("HOPS of 256 routes, one question", "s", None, whole_s),
    ]


ITEMS = {"map": measure_map, "redistribution": measure_redistribution, "hops": measure_hops}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--item", choices=ITEMS, action="append", help="repeatable; or all")
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--short", action="store_true", help="one run")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="also as JSON")
    options = parser.parse_args()
    found = []
    for item in options.item or ITEMS:
        found += ITEMS[item](1 if options.short else options.runs)
    print_figures(found, "ORACLE's times")
    write_figures(found, options.figures)


if __name__ == "__main__":
    main()
