# SPDX-License-Identifier: Apache-2.0
"""`fairlead export` as a user calls it: a file becomes a file, without a service."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

import fairlead as fl
from fairlead.cli import app
from fairlead.errors import InputError


def fairlead(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Odd and even hosts are racks."""
    monkeypatch.chdir(tmp_path)
    rack = np.arange(8) % 2
    is_near = rack[:, None] == rack
    latency_s, bandwidth_Bps = np.where(is_near, 5e-5, 2e-4), np.where(is_near, 1e9, 2e8)
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    hosts = [f"h{host}" for host in range(8)]
    fl.Network(hosts, latency_s, bandwidth_Bps).save(tmp_path / "cloud.net.npz")
    return tmp_path


def test_measured_racks_become_switches_that_are_imported_again(network: Path) -> None:
    done = fairlead(
        *("export", "cloud.net.npz", "--format", "slurm-topology", "-o", "topology.conf"),
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert (network / "topology.conf").read_text().splitlines() == [
        "SwitchName=group1 Nodes=h0,h2,h4,h6",
        "SwitchName=group2 Nodes=h1,h3,h5,h7",
        "SwitchName=all Switches=group1,group2",
    ]

    fairlead("import", "slurm", "topology.conf", "-o", "site.topo.npz")
    again = fairlead("export", "site.topo.npz", "--format", "slurm-block")

    assert again.stdout.splitlines()[-1] == "BlockSizes=4,8"
    assert again.stderr == ""


def test_json_has_the_groups_and_the_text(network: Path) -> None:
    done = fairlead("export", "cloud.net.npz", "--format", "dot", "--json")

    document = json.loads(done.stdout)
    assert document["levels"][1]["group2"] == ["h1", "h3", "h5", "h7"]
    assert document["text"].startswith("graph network {")


def test_what_has_no_groups_is_refused_in_one_line(network: Path) -> None:
    done = fairlead("export", "cg.C.32", "--format", "dot")

    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "cg.C.32: only a network or a topology has groups of hosts"
