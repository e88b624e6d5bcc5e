# SPDX-License-Identifier: Apache-2.0
"""From what rtr and ldms_ls print to a placement: import, oracle serve and query, map."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from torus_files import host, interconnect, shares

import fairlead as fl
from fairlead.measure.oracle import hot_links

PROGRAM = [sys.executable, "-m", "fairlead"]


def fairlead(*arguments: str | Path, code: int = 0) -> str:
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def stalling(z: int) -> dict:
    """Nothing stalls but for what is sent to the router 0,0,z from above and below."""
    everywhere = {
        ((x, 0, z), way): 0.0
        for x in range(3)
        for z in range(4)
        for way in ("X-", "X+", "Z-", "Z+")
    }
    return everywhere | {((0, 0, (z - 1) % 4), "Z+"): 0.9, ((0, 0, (z + 1) % 4), "Z-"): 0.9}


@pytest.fixture
def torus(tmp_path: Path) -> Path:
    (tmp_path / "interconnect.txt").write_text(interconnect(3, 1, 4))
    (tmp_path / "ldms.txt").write_text(shares(stalling(2)))
    fairlead("import", "gemini", tmp_path / "interconnect.txt", "-o", tmp_path / "t.topo.npz")
    return tmp_path


@pytest.fixture
def url(torus: Path) -> Iterator[str]:
    command = [*PROGRAM, "oracle", "serve", "t.topo.npz", "--metrics", "ldms:ldms.txt"]
    with subprocess.Popen(
        [*command, "--recorded", "--port", "0", "--every", "200ms"],
        cwd=torus, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as service:  # fmt: skip
        assert service.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", service.stderr.readline())
        assert found is not None
        yield found[0]
        service.send_signal(signal.SIGTERM)
        assert service.wait(timeout=60) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)


def test_service_is_announced_once_it_answers(url: str) -> None:
    # The line with the address was read just now: a client that waited for it connects.
    with urllib.request.urlopen(f"{url}/health", timeout=60) as answer:
        assert answer.status == 200


def test_import_tells_what_it_read(torus: Path) -> None:
    said = fairlead("import", "gemini", torus / "interconnect.txt")

    assert said == "24 hosts on 12 routers or switches, 72 links, routes of a torus\n"


def test_import_refuses_another_kind(torus: Path) -> None:
    said = fairlead("import", "token-ring", torus / "interconnect.txt", code=2)

    assert (
        "gemini, infiniband, ibdiagnet, ufm, slingshot, lldp, kubernetes, topograph, slurm, aws"
        in " ".join(said.split())
    )


def test_query_shows_the_stalls_of_routes(url: str) -> None:
    nodes = ",".join(host(0, 0, z) for z in range(3))

    said = fairlead("oracle", "query", nodes, "--url", url, "--metric", "stalls")

    rows = [line.split() for line in said.splitlines()]
    assert rows[2] == [host(0, 0, 0), "0", "0", "0.9"]
    assert rows[5][:2] == ["100", "%"]


def test_query_gives_its_answer_to_machines(url: str) -> None:
    nodes = f"{host(0, 0, 0)},{host(0, 0, 1)}"

    said = fairlead("oracle", "query", nodes, "--url", url, "--metric", "hops", "--json")

    assert json.loads(said)["metrics"]["hops"]["values"] == [[0, 1], [1, 0]]


def test_service_that_is_gone_is_named() -> None:
    said = fairlead("oracle", "query", "a,b", "--url", "http://127.0.0.1:9", code=1)

    assert said.startswith("fairlead: http://127.0.0.1:9/v1/query: cannot be reached: ")


def test_map_puts_what_talks_where_no_link_stalls(url: str, torus: Path) -> None:
    # Two pairs of ranks; of four routers in a line of Z one stalls.
    traffic = np.zeros((3, 3))
    traffic[0, 1] = traffic[1, 0] = 1e9
    fl.Traffic(traffic, (traffic > 0) * 1000.0).save(torus / "app.traffic.npz")
    hosts = ",".join(f"{host(0, 0, z)}:1" for z in (1, 2, 3, 0))

    said = fairlead(
        "map", "--network", f"oracle:{url}?metric=stalls", "--traffic", torus / "app.traffic.npz",
        "--cluster", hosts, "--json",
    )  # fmt: skip

    chosen = json.loads(said)
    busy = {chosen["hosts"][chosen["host_of_rank"][rank]] for rank in (0, 1)}
    assert host(0, 0, 2) not in busy


def test_map_places_by_an_imported_topology(torus: Path) -> None:
    traffic = np.zeros((2, 2))
    traffic[0, 1] = traffic[1, 0] = 1e9
    fl.Traffic(traffic, (traffic > 0) * 1000.0).save(torus / "app.traffic.npz")
    hosts = ",".join(f"{name}:1" for name in (host(0, 0, 0), host(0, 0, 2), "c0-0c0s2n1"))

    said = fairlead(
        "map", "--network", torus / "t.topo.npz", "--traffic", torus / "app.traffic.npz",
        "--cluster", hosts, "--json",
    )  # fmt: skip

    chosen = json.loads(said)
    assert sorted(chosen["host_of_rank"]) == [1, 2]  # the two nodes of one router


def test_links_that_messages_wait_for_come_first(url: str) -> None:
    first, second, third = hot_links(url)[:3]

    assert {(first.src, first.dst), (second.src, second.dst)} == {
        ("0,0,1 Z+", "0,0,2 Z-"),
        ("0,0,3 Z-", "0,0,2 Z+"),
    }
    assert (first.stalled_ratio, third.stalled_ratio) == (0.9, 0)


def test_dashboard_shows_what_the_service_exports(url: str) -> None:
    said = json.loads(fairlead("oracle", "dashboard"))
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:
        exported = set(re.findall(r"^# TYPE (\w+)", answer.read().decode(), re.MULTILINE))

    asked = " ".join(target["expr"] for panel in said["panels"] for target in panel["targets"])
    named = set(re.findall(r"fairlead_\w+", asked))
    assert named <= exported
    assert len(named) >= 8
