# SPDX-License-Identifier: Apache-2.0
"""Slingshot's list of cables: minimal routes by hand, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.measure.topologies import slingshot
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.measure.topologies.shortest_paths import shortest_paths
from fairlead.model.topology import Topology

SAMPLE = Path(__file__).parents[3] / "golden" / "oracle" / "slingshot" / "hsn_pt_pt.csv"

HOSTS = (
    *("x1000c0s0b0n0", "x1000c0s0b0n1", "x1000c0s1b0n0"),
    *("x1001c0s0b0n0", "x1001c0s1b0n0", "x1002c0s0b0n0", "x1001c0s2b0n0"),
)

# Group 0 has the switches r1, r3 and r5, the other groups r1 and r3. Cables between groups: r3 of
# 0 and r1 of 1, r1 of 0 and r1 of 2, r1 of 2 and r3 of 1. A host's own cables are two links. The
# last host has an adapter on each switch of group 1.
HOPS = [
    [0, 2, 3, 4, 5, 4, 4],
    [2, 0, 3, 4, 5, 4, 4],
    [3, 3, 0, 4, 5, 5, 4],
    [4, 4, 4, 0, 3, 5, 2],
    [5, 5, 5, 3, 0, 4, 2],
    [4, 4, 5, 5, 4, 0, 4],
    [4, 4, 4, 2, 2, 4, 0],
]


def hops(topology: Topology, *hosts: str) -> list[list[float]]:
    at = topology.indices(hosts)
    counted: list[list[float]] = topology.known_hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


def changed(folder: Path, old: str, new: str) -> Given:
    path = folder / "hsn_pt_pt.csv"
    text = SAMPLE.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return Given(path)


def test_minimal_routes_take_one_cable_between_groups() -> None:
    topology = import_topology("slingshot", Given(SAMPLE))

    assert hops(topology, *HOSTS) == HOPS
    assert topology.origin["num_groups"] == 3
    assert topology.router_of_host[topology.hosts.index("x1002c0s0b0n0")] == "x1002c0r3"
    assert list(topology.problems) == [
        "x1001c0s2b0n0 has several adapters: pairs of hosts take those that are fewest links "
        "apart, in turn"
    ]


def test_a_route_names_the_connectors_on_its_way() -> None:
    topology = import_topology("slingshot", Given(SAMPLE))
    src, dst = (topology.hosts.index(host) for host in ("x1000c0s0b0n0", "x1001c0s1b0n0"))

    route = topology.routes.route(src, dst)

    # Local, global, local: by way of group 2 it would be one link less.
    assert [topology.links.out_ports[link] for link in route] == [
        "host x1000c0s0b0n0",
        *("x1000c0r1j2", "x1000c0r3j1", "x1001c0r1j2"),
        "x1001c0r3j100 to x1001c0s1b0n0h0",
    ]


def test_shortest_paths_would_go_by_a_third_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        slingshot,
        "minimal_routes",
        lambda groups, between, ends: shortest_paths(len(groups), between, ends),
    )
    topology = import_topology("slingshot", Given(SAMPLE))

    assert hops(topology, "x1000c0s0b0n0", "x1001c0s1b0n0")[0][1] == 4


def test_parallel_cables_between_groups_are_taken_in_turn(tmp_path: Path) -> None:
    more = "1000.9,x1000c0r3j8,none,x1001c0r1j8,none,1,,,,,global,0,1,,,,[]\n"
    path = tmp_path / "hsn_pt_pt.csv"
    path.write_text(SAMPLE.read_text() + more)
    topology = import_topology("slingshot", Given(path))
    src = topology.hosts.index("x1000c0s1b0n0")

    used = {
        topology.links.out_ports[link]
        for host in ("x1001c0s0b0n0", "x1001c0s1b0n0", "x1001c0s2b0n0")
        for link in topology.routes.route(src, topology.hosts.index(host))
    }

    assert {"x1000c0r3j1", "x1000c0r3j8"} <= used


def test_hosts_have_the_names_of_a_file(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("x1000c0s0b0n0 nid000001\nx1001c0s1b0n0 nid000002 # of group 1\n")

    topology = import_topology("slingshot", Given(SAMPLE, nodes))

    assert hops(topology, "nid000001", "nid000002") == [[0, 5], [5, 0]]
    assert topology.num_hosts == 2
    for text, problem in (
        ("x9c0s0b0n0 n1", ":1: node 'x9c0s0b0n0' has no cable in the list"),
        ("nid000001", ":1: expected a node's xname and its host, got 'nid000001'"),
        ("", ": names no host"),
    ):
        nodes.write_text(text)
        with pytest.raises(InputError) as caught:
            import_topology("slingshot", Given(SAMPLE, nodes))
        assert str(caught.value).startswith(f"{nodes}{problem}")


def test_what_minimal_routes_miss_is_named(tmp_path: Path) -> None:
    def without(cable: str) -> Topology:
        lines = SAMPLE.read_text().splitlines(keepends=True)
        path = tmp_path / "hsn_pt_pt.csv"
        path.write_text("".join(line for line in lines if not line.startswith(cable)))
        return import_topology("slingshot", Given(path))

    apart = without("1000.5,")
    assert apart.problems[0].startswith("groups 0 and 1 have no cable between them: minimal")
    assert np.isnan(hops(apart, "x1000c0s0b0n0", "x1001c0s0b0n0")[0][1])

    around = without("1000.1,")
    assert around.problems[0].startswith("x1000c0r1 and x1000c0r5 have no cable between them")
    assert hops(around, "x1000c0s0b0n0", "x1000c0s1b0n0")[0][1] == 4


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("cable_id,", "id,", ": has no heading with cable_id; expected Slingshot's list"),
        ("src_group", "source_group", ":3: has no column src_group"),
        (",edge,0,", ",l0,0,", ":4: link_type 'l0': expected edge, local, global"),
        (",local,0,0", ",local,0,1", ":9: a local cable between groups 0 and 1"),
        (",edge,2,", ",edge,1,", ":13: x1002c0r3 is in group 2, but was in group 1"),
        (",global,0,2", ",local,0,2", ":15: a local cable between groups 0 and 2"),
        (",edge,1,none,none,none,none,none\nl0.4", ",edge,1\nl0.4", ":7: is cut off: 12 of 17"),
        (",edge,2,", ",edge,two,", ":8: group 'two' of x1002c0r3j100: expected a number"),
        ("x1001c0s2b0n0h1", "x1001c0s2b0n0h0", ":7: x1001c0s2b0n0h0 is on x1001c0r1j100, too"),
    ],
)
def test_a_list_of_another_form_is_one_line_with_its_place(
    old: str, new: str, problem: str, tmp_path: Path
) -> None:
    given = changed(tmp_path, old, new)

    with pytest.raises(InputError) as caught:
        import_topology("slingshot", given)

    assert str(caught.value).startswith(f"{given.file}{problem}")
    assert "\n" not in str(caught.value)


def test_a_row_that_is_understood_by_nobody_is_passed_over_and_named(tmp_path: Path) -> None:
    given = changed(tmp_path, "x1000c0s1b0n0h0", "sw-leaf-001")

    topology = import_topology("slingshot", given)

    assert "x1000c0s1b0n0" not in topology.hosts
    assert topology.problems[0].startswith("1 rows were passed over, the first is ")
