# SPDX-License-Identifier: Apache-2.0
"""`fairlead advise` in an emulated cloud in which one host is degraded, and on a run's record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lab_processes import RUN_TWICE

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.decide.hosts import find_bad_hosts
from fairlead.lab import Lab
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

SCENARIO = """
name = "advised"
hosts = 6
slots = 2
nic = "400Mbit/s"
"""


def shaped(lab: Lab) -> Network:
    """What a perfect probe would find; how well a probe does depends on the machine's load."""
    latency_s = np.where(np.eye(len(lab.hosts)), 0.0, 5e-5)
    return Network(lab.hosts, latency_s, lab.shaped_Bps())


def test_the_degraded_host_is_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "advised.toml").write_text(SCENARIO)
    environment = {
        **os.environ,
        **{name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")},
        "FAIRLEAD_MPIRUN": "mpirun.openmpi",
    }
    program = [str(find(detect("mpirun.openmpi")).example("stencil")), "--size", "16"]
    with Lab.up(tmp_path / "advised.toml") as lab:
        before = shaped(lab)
        for host in lab.hosts:
            if host != "h1":
                lab.degrade("h1", host, 0.1)
        after = shaped(lab)
        after.save(tmp_path / "shaped.net.npz")

        def fairlead(*arguments: str) -> subprocess.CompletedProcess[str]:
            return lab.run(
                [sys.executable, "-m", "fairlead", *arguments],
                env=environment, capture_output=True, text=True,
            )  # fmt: skip

        ran = fairlead(
            *RUN_TWICE, "-n", "8", "--hostfile", str(lab.hostfile),
            "--run-dir", str(tmp_path / "run"), "--network", str(tmp_path / "shaped.net.npz"),
            "--", *program,
        )  # fmt: skip
        advised = fairlead("advise", str(tmp_path / "run"), "--prices", "1", "--json")

    assert find_bad_hosts(before) == []
    assert ran.returncode == 0, ran.stderr
    assert advised.returncode == 0, advised.stderr
    advice = json.loads(advised.stdout)
    assert [bad["host"] for bad in advice["bad_hosts"]] == ["h1"]
    (symptom,) = advice["bad_hosts"][0]["symptoms"]
    assert (symptom["quantity"], symptom["direction"]) == ("bandwidth_Bps", "out")
    assert [(pair["src"], pair["ratio"]) for pair in symptom["pairs"]] == [
        ("h1", pytest.approx(10))
    ] * 5
    assert "h1" not in advice["choice"]["leaving_out"]["choice"]["hosts"]
    assert [len(choice["hosts"]) for choice in advice["choice"]["best_of_size"]] == [4, 5, 6]
    assert "h1" not in advice["choice"]["best_of_size"][0]["hosts"]
    assert advice["choice"]["run_time_s"] > 0
    assert advice["choice"]["wanted"]["price_per_run"] > 0
