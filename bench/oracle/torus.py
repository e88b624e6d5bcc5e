# SPDX-License-Identifier: Apache-2.0
"""ORACLE's experiment in small, in the emulated torus: spmv, others' congestion, a new mapping.

A job on one host of each router multiplies; pairs of other hosts fill links that it uses. In the
middle of each run the tasks are shared out anew by a metric. What counts is the time of a product
after that, and the share of the time lost to congestion that is recovered. Runs of all methods are
interleaved; intervals are 95 %, by bootstrap over the rounds. Rates are a quarter of the
scenario's: else 16 ranks and the streams would wait for the processors that they share, and not for
the network. These are not the paper's proportions, where 64 ranks with 20^3 points lose 18.9 %
to congestion: 64 busy ranks on two cores would wait for those alone.

    .venv/bin/python bench/oracle/torus.py [--rounds 24] [--seconds 285] [--kept FILE] [--short]

With --kept, times are kept in a file and a later call goes on where one has stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.lab import Lab, Scenario
from fairlead.lab.addresses import login_address

PORT = 8765
PROGRAM = ("--size", "16", "--vectors", "64", "--products", "65")
IN_THE_MIDDLE = ("--every", "35", "--gain", "0")
WINDOW_S = 3
"""The oracle's window: less than the products before the mapping take where others stream."""

WARM_UP_S = 4.0
"""Time of congestion before a run: the oracle's answer is an average over its window."""

FIRST = ("chrt", "--rr", "1")
"""At a site the service has a machine of its own. Here the ranks would leave it a tenth of the
processors, as they all ask again and again whether it has answered; root lets it come first."""

HOSTS = [f"h{2 * router}" for router in range(16)]
"""The first host of each router."""

PAIRS = [("h1", "h9"), ("h5", "h13"), ("h3", "h11")]
"""Second hosts, each pair over one cable in X, between the first two routers of a ring. The job's
tasks are a chain of four in X, so that a ring of four has one cable that they can do without."""

RANKS_OF_HOST = 1


class Method(NamedTuple):
    """How tasks are shared out in the middle of a run.

    Attributes:
        query: Question to the oracle; None: none.
        paper_ratio: Share of the lost time that ORACLE recovered; None: not measured there.
    """

    query: str | None
    paper_ratio: float | None = None


class Run(NamedTuple):
    """Seconds of a product after the mapping, and of the mapping itself."""

    product_s: float
    asking_s: float
    moving_s: float


METHODS = {
    "quiet": Method(None),
    "congested": Method(None),
    "no metric, oracle": Method("metric=none&method=oracle"),
    "hops, oracle": Method("metric=hops&method=oracle", paper_ratio=0.142),
    "bw, oracle": Method("metric=bw&method=oracle", paper_ratio=0.432),
    "stalls, oracle": Method("metric=stalls&method=oracle", paper_ratio=0.489),
    "hops, scotch-best": Method("metric=hops&method=scotch-best"),
    "bw, scotch-best": Method("metric=bw&method=scotch-best"),
    "stalls, scotch-best": Method("metric=stalls&method=scotch-best"),
    "geometric": Method("metric=hops&method=geometric", paper_ratio=0.255),
    "hops, optimize": Method("metric=hops&method=optimize"),
    "bw, optimize": Method("metric=bw&method=optimize"),
    "stalls, optimize": Method("metric=stalls&method=optimize"),
}


def main() -> None:
    options = parsed()
    kept = json.loads(options.kept.read_text()) if options.kept and options.kept.exists() else {}
    runs: dict[str, list[Run]] = {
        name: [Run(*run) for run in kept.get(name, [])] for name in options.method
    }
    end_s = time.monotonic() + options.seconds
    scenario = Scenario.load("torus").slower(options.slower)
    with Lab.up(scenario) as lab, served(lab):
        while len(runs["quiet"]) < options.rounds and time.monotonic() < end_s:
            for name in options.method:
                if name == "congested":  # from here on, to the end of the round
                    congest(lab)
                runs[name].append(run(lab, METHODS[name]))
                print(f"{name}: {runs[name][-1]}", file=sys.stderr)
            lab.end_loads()
            if options.kept:
                options.kept.write_text(json.dumps(runs))
    print_table(runs)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round later")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--slower", type=float, default=4.0, help="divides the scenario's rates")
    parser.add_argument("--method", action="append", choices=METHODS, help="repeatable; or all")
    parser.add_argument("--short", action="store_true", help="one round of one method")
    options = parser.parse_args()
    if options.short:
        options.rounds = 1
    mapped = options.method or list(METHODS)[-1 if options.short else 2 :]
    options.method = ["quiet", "congested", *mapped]
    return options


@contextlib.contextmanager
def served(lab: Lab) -> Iterator[None]:
    """An oracle on the head node that reads the routers' counters."""
    folder = lab.hostfile.parent
    fairlead = [sys.executable, "-m", "fairlead"]
    topology = str(folder / "torus.topo.npz")
    subprocess.run([*fairlead, "import", "lab", lab.name, "-o", topology], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    may_be_first = subprocess.run([*FIRST, "true"], check=False, capture_output=True)
    first = FIRST if may_be_first.returncode == 0 else ()
    command = [*first, *fairlead, "oracle", "serve", topology, "--metrics", f"lab:{lab.name}",
               "--every", "500ms", "--host", login_address(), "--port", str(PORT)]  # fmt: skip
    with subprocess.Popen(
        lab.command(command), env=os.environ | lab.env, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stderr is not None
        for line in service.stderr:
            if "answers on" in line:
                break
        try:
            yield
        finally:
            service.send_signal(signal.SIGTERM)


def congest(lab: Lab) -> None:
    """Begin the congestion, and wait until the oracle's window holds nothing else."""
    for pair in PAIRS:
        lab.add_load(*pair)
    time.sleep(WARM_UP_S)


def run(lab: Lab, method: Method) -> Run:
    """Multiply, and share the tasks out anew in the middle."""
    url = f"http://{login_address()}:{PORT}?window_s={WINDOW_S}&{method.query}"
    program = str(find(detect("mpirun.openmpi")).example("spmv"))
    hosts = ",".join(f"{host}:{RANKS_OF_HOST}" for host in HOSTS)
    done = lab.run(
        ["mpirun.openmpi", "--host", hosts, "-n", str(RANKS_OF_HOST * len(HOSTS)),
         *(("-x", f"FAIRLEAD_ORACLE={url}") if method.query else ()),
         program, *PROGRAM, *(IN_THE_MIDDLE if method.query else ())],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.endswith("PASSED\n"), done.stdout + done.stderr
    asked = re.search(r"remappings +(\d+) asked for, (\d+) moved tasks, (\d+) without", done.stdout)
    assert asked is not None and asked[3] == "0", done.stderr
    printed = dict(
        re.findall(r"^(last_product_s|asking_s|moving_s) +(\S+)", done.stdout, re.MULTILINE)
    )
    return Run(*(float(printed[name]) for name in ("last_product_s", "asking_s", "moving_s")))


def print_table(runs: dict[str, list[Run]]) -> None:
    rounds = min(len(of_method) for of_method in runs.values())
    table = {
        name: np.array([run.product_s for run in of_method[:rounds]])
        for name, of_method in runs.items()
    }
    print(f"time of a product, {rounds} rounds; recovered share of what congestion took")
    random = np.random.default_rng(0)
    draws = random.integers(rounds, size=(2000, rounds)) if rounds else np.zeros((1, 0), dtype=int)
    for name, values in table.items():
        method = METHODS[name]
        line = f"{name:18s} {1e3 * np.median(values):8.2f} ms"
        if method.query:
            low, middle, high = np.quantile(
                [recovered(table, name, draw) for draw in draws], [0.025, 0.5, 0.975]
            )
            line += f"  recovers {100 * middle:6.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
            _, asking_s, moving_s = np.median(runs[name], axis=0)
            line += f", map {1e3 * asking_s:.0f} ms, redistribution {1e3 * moving_s:.0f} ms"
        if method.paper_ratio is not None:
            line += f"  (ORACLE: {100 * method.paper_ratio:.1f} %)"
        print(line)


def recovered(table: dict[str, np.ndarray], name: str, draw: np.ndarray) -> float:
    """Share of the time that congestion took, by the medians of some rounds."""
    quiet, congested, mapped = (
        float(np.median(table[key][draw])) for key in ("quiet", "congested", name)
    )
    return (congested - mapped) / (congested - quiet)


if __name__ == "__main__":
    main()
