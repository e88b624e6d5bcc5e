# SPDX-License-Identifier: Apache-2.0
"""A host is cut off for longer than routers wait for one another, and joined again.

h0 ---+--- switch ---+--- h1, whose interface is down for a while
      h2 ------------+
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tracing import MPIS

from fairlead.act.relay.counters import router_counters
from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi, pytest.mark.slow]

RUNNER = Path(__file__).with_name("relayed_program.py")
CUT_OFF = "h1"
CUT_S = 8.0
"""TCP connections of routers end after 5 s without an answer (tcp_options.hpp)."""
NUM_ROUNDS = 400
"""Each brings half a MB to each host."""
SOME_BYTES = 5e6


def wait_until(claim: Callable[[], bool], deadline_s: float) -> bool:
    """Whether it becomes true in time."""
    end_s = time.monotonic() + deadline_s
    while not claim():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.05)
    return True


def test_messages_go_by_routers_again_after_a_long_cut(tmp_path: Path) -> None:
    cloud = {"name": "cut", "hosts": 3, "slots": 1, "nic": "400Mbit/s"}
    program = MPIS["openmpi-4"].build("relayed.c")
    with Lab.up(Scenario.model_validate(cloud)) as lab:
        network = tmp_path / "cloud.net.npz"
        latency_s = np.where(np.eye(3), 0.0, 1e-4)
        Network(lab.hosts, latency_s, lab.shaped_Bps()).save(network)
        command = [sys.executable, str(RUNNER), str(network), str(lab.hostfile),
                   str(tmp_path / "plan"), str(program), "rounds", str(NUM_ROUNDS)]  # fmt: skip
        with subprocess.Popen(
            lab.command(command),
            env={**os.environ, **lab.env, "FAIRLEAD_MPIRUN": "mpirun.openmpi"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as started:  # fmt: skip
            assert started.stdout is not None
            metrics = json.loads(started.stdout.readline())[lab.hosts.index(CUT_OFF)]

            def delivered_bytes() -> float:
                return (router_counters(Path(metrics)) or {}).get("delivered_bytes_total", 0.0)

            def set_interface(state: str) -> None:
                lab.run(["ip", "link", "set", "eth0", state], CUT_OFF, check=True)

            assert wait_until(lambda: delivered_bytes() > SOME_BYTES, 60.0)
            set_interface("down")
            time.sleep(CUT_S)
            before_bytes = delivered_bytes()
            set_interface("up")
            has_resumed = wait_until(lambda: delivered_bytes() > before_bytes + SOME_BYTES, 60.0)
            output, errors = started.communicate()

    assert has_resumed, errors
    assert (started.returncode, output) == (0, "ok\n"), errors
    assert "no message is relayed" not in errors
