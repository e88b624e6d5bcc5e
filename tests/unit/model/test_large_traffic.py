# SPDX-License-Identifier: Apache-2.0
"""Sparse traffic of many ranks stays sparse, measured by the memory of a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fairlead as fl
from fairlead.report.blocks import reduce_blocks, split_evenly, sum_blocks

RANKS = 60_000
NEIGHBOURS = 6
MORE_BYTES = 2**30
"""Limit on memory without the imports' own. One dense matrix of these ranks would be 28.8 GB,
and 64 KiB for each of the 37,500 servers of a simulation 2.4 GB."""

IN_A_CHILD = """
import resource, sys
from pathlib import Path
import numpy as np
import fairlead as fl
import scipy.sparse, plotly.offline
from fairlead.report.files import load_any
from fairlead.report.page import write_report
from fairlead.report.terminal import facts
from fairlead.report.terminal import view

pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + {more_bytes}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""

STEPS = {
    "show": """
from rich.console import Console
traffic = load_any(Path("ring.traffic.npz"))
with Path("shown").open("w") as stream:
    Console(file=stream, width=100).print(view(traffic, 100))
assert len(facts(traffic)["pairs"]) == traffic.bytes.nnz
""",
    "report": """
hosts = [f"h{{index}}" for index in range(3750)]
placement = fl.Placement(hosts, np.arange({ranks}) % 3750)
placement.save("placement.json")
write_report([Path("ring.traffic.npz"), Path("placement.json")], "report.html")
assert Path("report.html").stat().st_size < 2**25
""",
    "simulate": """
traffic = fl.Traffic.load("ring.traffic.npz")
machine = fl.Machine(nodes=3750, sockets=4, cores=4)
workload = fl.Workload("large", [fl.Job.from_traffic(traffic, 1.0, "ring")], machine)
for method in ("blocked", "spread", "spread-group"):
    result = fl.simulate(workload, fl.place_jobs(workload, method), scale=0.1)
    assert result.num_messages == traffic.bytes.nnz
""",
}


def ring() -> fl.Traffic:
    """Each rank sends its next neighbours a kilobyte, ten times."""
    src = np.repeat(np.arange(RANKS), NEIGHBOURS)
    dst = (src + np.tile(np.arange(1, NEIGHBOURS + 1), RANKS)) % RANKS
    times = np.full(len(src), 10.0)
    messages = sp.csr_array((times, (src, dst)), shape=(RANKS, RANKS))
    return fl.Traffic(bytes=messages * 1024, messages=messages, run_time_s=1.0)


@pytest.mark.parametrize("step", STEPS)
def test_memory_is_that_of_the_entries(step: str, tmp_path: Path) -> None:
    ring().save(tmp_path / "ring.traffic.npz")
    program = (IN_A_CHILD + STEPS[step]).format(more_bytes=MORE_BYTES, ranks=RANKS)
    finished = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr


def test_blocks_of_sparse_traffic_are_sums_as_of_dense() -> None:
    dense = np.random.default_rng(1).integers(0, 3, (11, 11)).astype(float)
    blocks = split_evenly(11, 4)
    np.testing.assert_array_equal(
        sum_blocks(sp.csr_array(dense), blocks), reduce_blocks(dense, blocks, np.sum)
    )


def test_blocks_may_hold_any_ranks_in_any_order() -> None:
    sent = sp.csr_array(np.arange(16.0).reshape(4, 4))
    cells = sum_blocks(sent, [np.array([3, 0]), np.array([2])])
    # Group 3, 0 to itself: 15 + 12 + 3 + 0; to 2: 14 + 2; from 2: 11 + 8; 2 to itself: 10.
    assert cells.tolist() == [[30, 16], [19, 10]]
