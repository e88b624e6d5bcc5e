# SPDX-License-Identifier: Apache-2.0
"""`fairlead run --relay` in an emulated cloud where h0 -> h1 has a tenth of the others' rate."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from lab_processes import RUN_TWICE, child_of, processes_in
from tracing import MPIS

from fairlead.act.relay.routers import router_program
from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    cloud = {"name": "relay", "hosts": 4, "slots": 1, "nic": "400Mbit/s"}
    with Lab.up(Scenario.model_validate(cloud)) as up:
        up.degrade("h0", "h1", 0.1)
        yield up


@pytest.fixture
def network(lab: Lab, tmp_path: Path) -> Path:
    rates = lab.shaped_Bps()
    latency_s = np.where(np.eye(len(lab.hosts)), 0.0, 1e-4)
    Network(lab.hosts, latency_s, rates).save(tmp_path / "cloud.net.npz")
    return tmp_path / "cloud.net.npz"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folders = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    return {**os.environ, **folders, "FAIRLEAD_MPIRUN": "mpirun.openmpi"}


@pytest.fixture
def program() -> Path:
    return MPIS["openmpi-4"].build("relayed.c")


def test_a_program_runs_with_routers_that_end_with_it(
    lab: Lab, network: Path, environment: dict[str, str], program: Path, tmp_path: Path
) -> None:
    def fairlead(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fairlead", *words]
        return lab.run(command, env=environment, capture_output=True, text=True)

    done = fairlead(
        *(*RUN_TWICE, "--relay", "--relay-rule", "mcm", "--relay-zones", "1.5,3"),
        *("--run-dir", str(tmp_path / "run")),
        *("-n", "4", "--hostfile", str(lab.hostfile)),
        *("--network", str(network), "--method", "launcher"),
        *("--", str(program), "rounds", "30"),
    )

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ok"), done.stderr
    assert "a router on each of 4 hosts" in done.stderr
    assert "no message is relayed" not in done.stderr
    assert processes_in(lab, str(router_program())) == []
    plan = json.loads((tmp_path / "run" / "plan" / "relay.json").read_text())
    assert plan["zones"] == [1.5, 3]
    status = json.loads(fairlead("relay", "status", "--json", str(tmp_path / "run")).stdout)
    paths = {tuple(route["path"]): route["bandwidth_Bps"] for route in status["routes"]}
    assert paths["h0", "h2", "h1"] > 4 * paths["h0", "h1"]
    assert status["rule"] == "mcm"
    assert "relays: routers carried" in done.stderr
    carried = {tuple(route["path"]): route["carried_bytes"] for route in status["routes"]}
    assert carried["h0", "h2", "h1"] + carried["h0", "h3", "h1"] > 0
    assert status["routers"] == dict.fromkeys(lab.hosts)


def test_the_next_run_begins_with_the_path_table_of_the_one_before(
    lab: Lab, network: Path, environment: dict[str, str], program: Path, tmp_path: Path
) -> None:
    def run(name: str) -> str:
        done = lab.run(
            [
                *(sys.executable, "-m", "fairlead", *RUN_TWICE, "--relay", "--relay-rule", "mcm"),
                *("--run-dir", str(tmp_path / name), "-n", "4", "--hostfile", str(lab.hostfile)),
                *("--network", str(network), "--method", "launcher"),
                *("--", str(program), "rounds", "30"),
            ],
            env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ok"), done.stderr
        return done.stderr

    outputs = [run("first"), run("second")]

    left = [json.loads(file.read_text()) for file in (tmp_path / "first").glob("relay-*.json")]
    standard = {
        (process["src"], *row["hops"])
        for process in left
        for row in process["table"]
        if row["use"] == "standard"
    }
    plan = json.loads((tmp_path / "second" / "plan" / "relay.json").read_text())
    begun = {
        (route["src"], *route["hops"]) for route in plan["routes"] if route.get("use") == "standard"
    }
    line = "the path table of an earlier run is used"
    assert [line in each for each in outputs] == [False, True]
    assert begun == standard
    assert len(standard) > 1
    link = left[0]["links"][0]
    assert plan["segment_s"][link["src"]][link["dst"]] > 0


def test_runs_use_the_routers_of_the_service_while_it_runs(
    lab: Lab, network: Path, environment: dict[str, str], program: Path
) -> None:
    relayed = [
        *(sys.executable, "-m", "fairlead", *RUN_TWICE, "--relay", "--method", "launcher"),
        *("-n", "4", "--hostfile", str(lab.hostfile), "--network", str(network)),
        *("--", str(program), "rounds", "30"),
    ]
    serve = [sys.executable, "-m", "fairlead", "relay", "serve", "--hostfile", str(lab.hostfile)]

    def run() -> str:
        done = lab.run(relayed, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ok"), done.stderr
        return done.stderr

    with subprocess.Popen(
        lab.command(serve), env={**environment, **lab.env}, stderr=subprocess.PIPE, text=True
    ) as service:
        try:
            assert service.stderr is not None
            assert "a router on each of 4 hosts" in service.stderr.readline()
            kept = processes_in(lab, str(router_program()))
            outputs = [run(), run()]
            assert sorted(processes_in(lab, str(router_program()))) == sorted(kept)
        finally:
            os.kill(child_of(service.pid, "fairlead"), signal.SIGTERM)

    assert service.returncode == 0
    assert len(kept) == len(lab.hosts)
    assert all("the kept routers of 4 hosts" in each for each in outputs)
    assert processes_in(lab, str(router_program())) == []
    assert "a router on each of 4 hosts" in run()
