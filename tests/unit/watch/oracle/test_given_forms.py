# SPDX-License-Identifier: Apache-2.0
"""What the oracle gives in the forms of others, these forms' own readers read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torus_files import NEWEST_S

from fairlead.measure.metrics import MetricSource, Quantity, Series
from fairlead.measure.metrics.ldms import parse
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.measure.topologies.switch_tree import host_port
from fairlead.watch.oracle import Oracle
from fairlead.watch.oracle.giving import FORMS, prometheus_text

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"


class Recorded(MetricSource):
    """What comes into one host takes three quarters of its cable."""

    name = "recorded"

    def read(self, now_s: float, window_s: float) -> list[Series]:
        at_s, values = np.array([NEWEST_S]), np.array([0.75])
        return [Series(host_port("node002"), True, Quantity.used_ratio, at_s, values)]


@pytest.fixture
def oracle() -> Oracle:
    topology = import_topology("slurm", Given(GOLDEN / "slurm" / "topology_tree.conf"))
    made = Oracle(topology, [Recorded()], clock=lambda: NEWEST_S)
    made.collector.read_all()
    return made


def test_tree_for_slurm_is_read_back_as_the_same_tree(oracle: Oracle, tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(FORMS["slurm"](oracle))

    again = import_topology("slurm", Given(tmp_path / "topology.conf"))

    assert again.hosts == oracle.topology.hosts
    assert again.router_of_host == oracle.topology.router_of_host
    hosts = np.arange(again.num_hosts)
    pairs = np.broadcast_arrays(hosts[:, None], hosts[None, :])
    assert again.hops()(*pairs).tolist() == oracle.topology.hops()(*pairs).tolist()


def test_sets_for_ldms_are_read_back_with_their_time(oracle: Oracle) -> None:
    (metrics,) = parse(FORMS["ldms"](oracle), "given")

    assert metrics.values == {"used": 0.75}
    assert metrics.time_s == NEWEST_S


def test_nodes_are_labelled_with_their_switch(oracle: Oracle) -> None:
    lines = FORMS["labels"](oracle).splitlines()

    assert len(lines) == 8
    assert lines[0] == "kubectl label --overwrite node node001 fairlead.io/router=leaf1"


def test_source_and_requests_are_exported_to_prometheus(oracle: Oracle) -> None:
    lines = prometheus_text(oracle, {200: 3, 429: 1}, 0.5, NEWEST_S).splitlines()

    assert 'fairlead_oracle_source_up{source="recorded"} 1' in lines
    assert 'fairlead_oracle_requests_total{code="429"} 1' in lines
    assert 'fairlead_link_used_ratio{src="above host node002",dst="host node002"} 0.75' in lines
