# SPDX-License-Identifier: Apache-2.0
"""`fairlead oracle serve` probes a few hosts by a real MPI and reports their latencies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launchers import wait_until
from oracle_service import serving

from fairlead.measure.oracle import ask_oracle
from fairlead.model.topology import Topology, ends_only
from fairlead.model.topology.tree import links_of_tree

pytestmark = [pytest.mark.mpi]

HOSTS = ("ash", "birch", "cedar")


@pytest.fixture
def url(tmp_path: Path, invented_hosts: None) -> Iterator[str]:
    """A service of three hosts on a switch, of which it probes two."""
    pytest.importorskip("uvicorn", reason="the extra fairlead[oracle] is not installed")
    links = links_of_tree([*(f"host {host}" for host in HOSTS), "switch"], np.full(4, 1e9))
    topology = tmp_path / "site.topo.npz"
    Topology(HOSTS, links, ends_only(len(HOSTS)), ("switch",) * len(HOSTS)).save(topology)
    options = ("--probe-hosts", "ash:1,birch:1", "--probe-every", "1s")
    with serving(tmp_path, topology.name, *options) as url:
        yield url


def test_latencies_are_those_that_a_probe_measures_again_and_again(url: str) -> None:
    def ask_latencies() -> list[list[Any]]:
        answer = ask_oracle(url, HOSTS, ["latency_s"])
        rows: list[list[Any]] = answer["metrics"]["latency_s"]["values"]
        return rows

    wait_until(lambda: ask_latencies()[0][1] is not None)
    first = ask_latencies()
    # Two probes never measure the same to the last digit.
    wait_until(lambda: ask_latencies()[0][1] not in (None, first[0][1]))

    for latency_s in (first[0][1], first[1][0]):
        assert 0 < latency_s < 1
    assert [row[2] for row in first] == [None, None, 0]
    assert first[2][:2] == [None, None]
