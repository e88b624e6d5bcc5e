# SPDX-License-Identifier: Apache-2.0
"""Groups of pairs as a tree, as sentences, and as blocks of the heatmap."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
from report_samples import two_racks
from rich.console import Console

import fairlead as fl
from fairlead.model.flows_summary import FlowsSummary
from fairlead.report.contention_view import blocks, contention_lines
from fairlead.report.host_order import HostOrder
from fairlead.report.network_charts import network_charts
from fairlead.report.terminal import facts, view

HOSTS = [f"node{number}" for number in range(6)]
EVEN, ODD, LAST = [0, 2], [1, 3], [4, 5]


def group(sources: list[int], destinations: list[int], capacity_Bps: float = 2.5e7):
    pairs = np.array([(src, dst) for src in sources for dst in destinations])
    return fl.BottleneckGroup(pairs, capacity_Bps, 0.9 * capacity_Bps, 1.1 * capacity_Bps, 0.996)


def network(*groups: fl.BottleneckGroup, num_hosts: int = 6) -> fl.Network:
    names = [f"node{number}" for number in range(num_hosts)]
    return dataclasses.replace(
        two_racks(names),
        groups=groups,
        nic_out_Bps=np.full(num_hosts, 1e8),
        nic_in_Bps=np.full(num_hosts, 2e8),
    )


def rendered(shown: fl.Network, width: int = 120) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(view(shown, width))
    return stream.getvalue()


def test_tree_names_both_sides_the_capacity_and_the_confidence() -> None:
    text = rendered(network(group(EVEN, ODD)))

    assert (
        "node0, node2 → node1, node3: 25.0 MB/s (95 % interval 22.5 MB/s to 27.5 MB/s), "
        "confidence 99.6 %"
    ) in text
    assert "from node0, node2" in text and "to node1, node3" in text
    assert "node5: out 100 MB/s, in 200 MB/s" in text


def test_tree_is_shown_only_where_flows_were_run_together() -> None:
    assert "Shared capacities" not in rendered(two_racks(HOSTS))
    assert "groups" not in facts(two_racks(HOSTS))


def test_groups_that_were_not_looked_for_are_not_reported_as_absent() -> None:
    interfaces = dataclasses.replace(network(), origin={"how": "measured"})
    assert "pairs may share bottlenecks" in rendered(interfaces)
    assert contention_lines(interfaces) == [
        "only interfaces were measured; pairs may share bottlenecks"
    ]
    searched = dataclasses.replace(interfaces, flows=FlowsSummary(is_complete=True))
    assert "no pairs were found to share a bottleneck" in rendered(searched)


def test_many_hosts_are_summed_up_and_fit() -> None:
    text = rendered(network(group(list(range(40)), list(range(40, 80))), num_hosts=80), 100)

    assert max(map(len, text.splitlines())) <= 100
    assert "and 28 more" in text
    assert "out: 100 MB/s to 100 MB/s, median 100 MB/s" in text


def test_all_other_hosts_are_called_that() -> None:
    up, down = group(EVEN, ODD + LAST), group(ODD + LAST, EVEN)

    lines = contention_lines(network(up, down))

    assert lines[0].startswith("node0, node2 → the others share 25.0 MB/s")
    assert lines[1].startswith("the others → node0, node2 share 25.0 MB/s")


def test_of_two_equal_sides_both_are_named() -> None:
    (line,) = contention_lines(network(group([0, 2, 4], [1, 3, 5])))
    assert line.startswith("node0, node2, node4 → node1, node3, node5 share")


def test_search_cut_short_and_search_that_failed_are_reported() -> None:
    found = network()
    short = dataclasses.replace(found, flows=fl.FlowsSummary(is_complete=False))
    lost = fl.FlowsSummary(is_complete=False, error="host lost")
    failed = dataclasses.replace(two_racks(HOSTS), flows=lost)

    assert "there may be more" in contention_lines(short)[-1]
    assert contention_lines(failed) == [
        "flows could not be run together, only the pairs are known: host lost"
    ]
    assert contention_lines(two_racks(HOSTS)) == []


def test_facts_name_hosts() -> None:
    (found,) = facts(network(group(EVEN, ODD)))["groups"]
    assert (found["sources"], found["destinations"]) == (["node0", "node2"], ["node1", "node3"])
    assert (found["num_pairs"], found["capacity_Bps"]) == (4, 2.5e7)


def test_hosts_of_a_group_come_together() -> None:
    shown = network(group(EVEN, ODD + LAST), group(ODD + LAST, EVEN))

    # By their pairs even and odd hosts are racks: host 4 comes before its group's odd ones.
    assert LAST == [4, 5]
    assert HostOrder.of(shown).hosts == [*EVEN, 4, *ODD, 5]
    assert HostOrder.of(network()).hosts == [0, 2, 4, 1, 3, 5]


def test_blocks_hold_exactly_the_pairs_of_their_group() -> None:
    shown = network(group(EVEN, ODD + LAST), group(EVEN + LAST, ODD), group(ODD, EVEN))
    order = HostOrder.of(shown).hosts

    cells: list[set[tuple[int, int]]] = [set() for _ in shown.groups]
    for block in blocks(shown, order):
        rows = range(block.first_row, block.last_row + 1)
        columns = range(block.first_column, block.last_column + 1)
        cells[block.group] |= {(order[row], order[column]) for row in rows for column in columns}

    for found, expected in zip(cells, shown.groups, strict=True):
        assert found == {tuple(pair) for pair in expected.pairs.tolist()}


def test_heatmap_is_in_the_order_of_the_groups_with_a_frame_around_each() -> None:
    shown = network(group([0, 2, 4], [1, 3, 5]), group([1, 3, 5], [0, 2, 4]))
    bandwidth = next(c for c in network_charts(shown) if c.title.startswith("Bandwidth from"))

    trace = bandwidth.figure["data"][0]
    assert trace["y"] == ["node0", "node2", "node4", "node1", "node3", "node5"]
    # 100 MB/s inside a rack and 20 MB/s between: the sorted matrix has two by two blocks.
    assert trace["z"][0][1:] == [100, 100, 20, 20, 20]
    frames = [
        [shape[end] for end in ("x0", "x1", "y0", "y1")]
        for shape in bandwidth.figure["layout"]["shapes"]
        if "name" in shape
    ]
    assert frames == [[2.5, 5.5, -0.5, 2.5], [-0.5, 2.5, 2.5, 5.5]]
    assert "coloured outline" in bandwidth.note


def test_heatmap_without_groups_has_no_frames_of_groups() -> None:
    shapes = [s for c in network_charts(network()) for s in c.figure["layout"].get("shapes", [])]
    assert not any("name" in shape for shape in shapes)
