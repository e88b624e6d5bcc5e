# SPDX-License-Identifier: Apache-2.0
"""Networks, traffic and placements are loaded as they were saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from saved_samples import three_ranks

import fairlead as fl

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@st.composite
def networks(draw: st.DrawFn) -> fl.Network:
    num_hosts = draw(st.integers(1, 6))
    square = (num_hosts, num_hosts)
    numbers = st.floats(1e-9, 1e12) | st.just(float("nan"))
    latency_s = draw(hnp.arrays(np.float64, square, elements=numbers))
    bandwidth_Bps = draw(hnp.arrays(np.float64, square, elements=numbers))
    hosts = draw(st.lists(st.text(min_size=1), min_size=num_hosts, max_size=num_hosts, unique=True))
    capacity_Bps = draw(hnp.arrays(np.float64, (num_hosts,), elements=numbers))
    return fl.Network(
        hosts,
        latency_s,
        bandwidth_Bps,
        samples=np.ones(square),
        nic_out_Bps=capacity_Bps,
        groups=draw(st.lists(bottleneck_groups(num_hosts), max_size=3)) if num_hosts > 1 else [],
    )


@st.composite
def bottleneck_groups(draw: st.DrawFn, num_hosts: int) -> fl.BottleneckGroup:
    host = st.integers(0, num_hosts - 1)
    pair = st.tuples(host, host).filter(lambda ends: ends[0] != ends[1])
    return fl.BottleneckGroup(
        pairs=np.array(draw(st.lists(pair, min_size=1, unique=True))),
        capacity_Bps=draw(st.floats(1, 1e12)),
        confidence_ratio=draw(st.floats(0, 1)),
    )


@same_folder
@given(network=networks())
def test_network_survives_its_file(network: fl.Network, tmp_path: Path) -> None:
    network.save(tmp_path / "a.net.npz")
    loaded = fl.Network.load(tmp_path / "a.net.npz")
    assert loaded.hosts == network.hosts
    np.testing.assert_array_equal(loaded.latency_s, network.latency_s)
    np.testing.assert_array_equal(loaded.bandwidth_Bps, network.bandwidth_Bps)
    np.testing.assert_array_equal(loaded.samples, network.samples)
    np.testing.assert_array_equal(loaded.nic_out_Bps, network.nic_out_Bps)
    assert loaded.nic_in_Bps is None
    assert [shape_of(group) for group in loaded.groups] == [
        shape_of(group) for group in network.groups
    ]


def shape_of(group: fl.BottleneckGroup) -> tuple[object, ...]:
    return group.pairs.tolist(), group.capacity_Bps, group.confidence_ratio


def test_a_network_keeps_hosts_without_an_answer_and_incomplete_parts(tmp_path: Path) -> None:
    pair = np.ones((2, 2))
    flows = fl.FlowsSummary(is_complete=False, error="a host was lost")
    saved = fl.Network(
        ["a", "b"], pair, pair, flows=flows, unreachable={"c": "no answer"}, launch_s=1.5
    )
    saved.save(tmp_path / "a.net.npz")

    loaded = fl.Network.load(tmp_path / "a.net.npz")

    assert (loaded.flows, loaded.unreachable, loaded.launch_s) == (flows, {"c": "no answer"}, 1.5)


@same_folder
@given(dense=hnp.arrays(np.float64, (4, 4), elements=st.floats(0, 2.0**60)))
def test_traffic_survives_its_file(dense: np.ndarray, tmp_path: Path) -> None:
    fl.Traffic(bytes=dense, messages=dense > 0).save(tmp_path / "a.traffic.npz")
    loaded = fl.Traffic.load(tmp_path / "a.traffic.npz")
    np.testing.assert_array_equal(loaded.bytes.toarray(), dense)
    np.testing.assert_array_equal(loaded.messages.toarray(), dense > 0)


def test_traffic_file_keeps_collectives_and_run_time(tmp_path: Path) -> None:
    three_ranks().save(tmp_path / "a.traffic.npz")
    loaded = fl.Traffic.load(tmp_path / "a.traffic.npz")
    assert loaded.collectives == three_ranks().collectives
    assert [ranks.tolist() for ranks in loaded.communicators] == [[0, 1, 2], [2, 0]]
    assert loaded.untraced == fl.Untraced(messages=2, bytes=10)
    assert loaded.run_time_s == 1.5
    assert loaded.exchange_bytes[0, 2] == 3


@same_folder
@given(hosts=st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_placement_survives_its_file(hosts: list[int], tmp_path: Path) -> None:
    placement = fl.Placement(["a", "b", "c", "d"], np.array(hosts), "scotch", {"seed": 1})
    placement.save(tmp_path / "p.json")
    loaded = fl.Placement.load(tmp_path / "p.json")
    assert loaded.host_names() == placement.host_names()
    assert (loaded.method, loaded.origin) == ("scotch", {"seed": 1})
