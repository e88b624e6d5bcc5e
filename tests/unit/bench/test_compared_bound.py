# SPDX-License-Identifier: Apache-2.0
"""The lower bound that bench/collectives/compared.py prints is that of the network itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "bench" / "collectives"

# On `mesh` no pair of some hosts fills its interface, and the paper's plan knows no interfaces:
# the bound of that plan is up to a third larger than the one of the network.
SCRIPT = """
import json
import numpy as np
import compared
from simulating import Call

size, num_hosts = 65536, 8
network = compared.CLOUDS["mesh"](num_hosts, 0)
call = Call("bcast", size)
plans = {
    name: compared.plans_of(name, [call], network)[call] for name in (compared.PAPER, "forest")
}

class Kept:
    def row(self, cell):
        return {compared.kept_as(plan): 1.0 for plan in plans.values()}

class Simulation:
    model = "plain"

kept = Kept()
methods = (compared.PAPER, "forest")
comparison = compared.Comparison(Simulation(), "mesh", network, kept, kept, methods, [size])
(row,) = comparison.rows("bcast")
printed = row.bound_s

latency_s, rates = network.latency_s.copy(), network.bandwidth_Bps.copy()
np.fill_diagonal(latency_s, np.inf)
np.fill_diagonal(rates, 0.0)
out_Bps = np.minimum(network.nic_out_Bps, rates.sum(1))
in_Bps = np.minimum(network.nic_in_Bps, rates.sum(0))
closed_s = max(
    latency_s[0].min() + size / out_Bps[0],
    *(latency_s[:, host].min() + size / in_Bps[host] for host in range(1, num_hosts)),
)
print(json.dumps([printed, closed_s, plans[compared.PAPER].lower_bound_s]))
"""


def test_the_bound_of_the_papers_plan_is_not_the_one_that_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=FOLDER, check=True, capture_output=True, text=True
    )

    printed_s, closed_s, papers_s = json.loads(done.stdout)

    assert abs(printed_s / closed_s - 1) < 1e-6
    assert papers_s > 1.1 * closed_s
