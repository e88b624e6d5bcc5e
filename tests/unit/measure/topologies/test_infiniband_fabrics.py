# SPDX-License-Identifier: Apache-2.0
"""A node of InfiniBand is its GUID, two adapters are two links, odd lines are counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import RailRoutes, Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle" / "infiniband"


def imported(text: str, folder: Path) -> Topology:
    (folder / "fabric.txt").write_text(text)
    return import_topology("infiniband", Given(folder / "fabric.txt"))


def fabric(**switches: list[tuple[str, str]]) -> str:
    """A switch for each name, all on one spine, with adapters by (GUID, description) each."""
    text = ""
    for number, (name, adapters) in enumerate(switches.items(), 1):
        text += f"switchguid=0xb{number}(b{number})\n"
        text += f'Switch\t36 "S-000000000000b00{number}"\t\t# "{name}" lid {number} lmc 0\n'
        text += f'[36]\t"S-000000000000c001"[{number}]\t\t# "spine" lid 99 4xFDR\n'
        for port, (guid, description) in enumerate(adapters, 1):
            text += f'[{port}]\t"H-{guid}"[1]({guid}) \t\t# "{description}" lid 7 4xFDR\n'
    text += 'Switch\t36 "S-000000000000c001"\t\t# "spine" lid 99 lmc 0\n'
    for number, name in enumerate(switches, 1):
        text += f'[{number}]\t"S-000000000000b00{number}"[36]\t\t# "{name}" lid 1 4xFDR\n'
    for number, (name, adapters) in enumerate(switches.items(), 1):
        for port, (guid, description) in enumerate(adapters, 1):
            text += f'\nsysimgguid=0x{guid}\nCa\t1 "H-{guid}"\t\t# "{description}"\n'
            text += f'[1]({guid}) \t"S-000000000000b00{number}"[{port}]\t\t'
            text += f'# lid 7 lmc 0 "{name}" lid 1 4xFDR\n'
    return text


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nonchassis.txt", "1 lines are no node or port and were passed over, the first is line 1"),
        ("warnings.txt", "1 lines are no node or port and were passed over, the first is line 1"),
        ("unknown-speed.txt", "6 ports of cables have no known speed"),
    ],
)
def test_headings_warnings_and_unknown_speeds_are_counted(name: str, problem: str) -> None:
    topology = import_topology("infiniband", Given(GOLDEN / name))

    assert topology.hosts == ("n1", "n2")
    assert topology.hops()(np.array([0]), np.array([1])).tolist() == [3]
    assert topology.problems[0].startswith(problem)
    assert np.isnan(topology.links.capacity_Bps).all() == (name == "unknown-speed.txt")


def test_ports_of_a_chassis_are_read(tmp_path: Path) -> None:
    text = (GOLDEN / "nonchassis.txt").read_text()
    text = "Chassis 0 (guid 0xa00)\n\nSpine 1 (InfiniScale)\n" + text.replace("[36]", "[36][ext 3]")

    topology = imported(text, tmp_path)

    assert topology.hops()(np.array([0]), np.array([1])).tolist() == [3]
    assert topology.problems[0].startswith("3 lines are no node or port")


def test_node_that_is_not_understood_keeps_its_ports_to_itself(tmp_path: Path) -> None:
    text = (GOLDEN / "nonchassis.txt").read_text()
    text += (
        '\nXx\t1 "X-0000000000000999"\t\t# "x"\n[2]\t"S-0000000000000a01"[9]\t\t# "A" lid 1 4xFDR\n'
    )

    topology = imported(text, tmp_path)

    assert "110:2" not in topology.links.out_ports


def test_two_adapters_of_a_host_are_two_links(tmp_path: Path) -> None:
    topology = import_topology("infiniband", Given(GOLDEN / "two-rails.txt"))

    # n1 and n2 have mlx5_0 on the first switch and mlx5_1 on the second: two paths of two links.
    assert topology.hosts == ("n1", "n2")
    assert isinstance(topology.routes, RailRoutes)
    used = {
        topology.links.out_ports[link]
        for pair in (("n1", "n2"), ("n2", "n1"))
        for link in topology.route(*pair)
    }
    assert topology.hops()(np.array([0, 1, 0]), np.array([1, 0, 0])).tolist() == [2, 2, 0]
    assert len(used) == 4
    assert {"100:1", "110:1", "120:1", "130:1"} <= set(topology.links.out_ports)
    assert topology.problems == (
        "n1 and 1 more have several adapters: pairs of hosts take those that are fewest links "
        "apart, in turn",
    )


def test_nearest_adapters_of_two_hosts_are_taken(tmp_path: Path) -> None:
    # a is on both switches, b on the first, c on the second.
    text = fabric(
        one=[("a1", "a mlx5_0"), ("b1", "b mlx5_0")], two=[("a2", "a mlx5_1"), ("c1", "c mlx5_0")]
    )
    topology = imported(text, tmp_path)
    topology.save(tmp_path / "t.topo.npz")

    for known in (topology, Topology.load(tmp_path / "t.topo.npz")):
        hops = known.hops()(*np.indices((3, 3)))
        assert hops.tolist() == [[0, 2, 2], [2, 0, 4], [2, 4, 0]]
        assert [known.links.out_ports[link] for link in known.route("a", "c")] == ["a2:1", "b002:2"]


def test_hosts_that_no_path_joins_are_not_nearest_where_another_has_two_rails(
    tmp_path: Path,
) -> None:
    # Without the spine, b and c are on switches that nothing joins.
    text = fabric(
        one=[("a1", "a mlx5_0"), ("b1", "b mlx5_0")], two=[("a2", "a mlx5_1"), ("c1", "c mlx5_0")]
    )
    lines = text.splitlines(keepends=True)
    joined = "".join(line for line in lines if "spine" not in line and "[36]" not in line)
    topology = imported(joined, tmp_path)

    hops = topology.known_hops()(*np.indices((3, 3)))

    assert topology.hosts == ("a", "b", "c")
    assert np.array_equal(hops, [[0, 2, 2], [2, 0, np.nan], [2, np.nan, 0]], equal_nan=True)


def test_pairs_take_equal_rails_in_turn(tmp_path: Path) -> None:
    hosts = [f"h{index}" for index in range(4)]
    text = fabric(
        one=[(f"a{index}", f"{host} mlx5_0") for index, host in enumerate(hosts)],
        two=[(f"b{index}", f"{host} mlx5_1") for index, host in enumerate(hosts)],
    )
    topology = imported(text, tmp_path)

    by_first = [
        [
            topology.links.out_ports[topology.route(one, other)[0]][0]
            for other in hosts
            if other != one
        ]
        for one in hosts
    ]
    assert all(set(used) == {"a", "b"} for used in by_first)


def test_equal_descriptions_are_several_hosts(tmp_path: Path) -> None:
    text = fabric(one=[("a1", "node mlx5_0"), ("a2", "node mlx5_0")], two=[("a3", "n3 mlx5_0")])

    topology = imported(text, tmp_path)

    assert topology.hosts == ("n3", "node-a1", "node-a2")
    assert "several adapters call themselves 'node mlx5_0'" in topology.problems[0]


@pytest.mark.parametrize(
    "description",
    ["MT25408 ConnectX Mellanox Technologies", "localhost HCA-1", "Mellanox Technologies", " "],
)
def test_default_descriptions_name_no_host(tmp_path: Path, description: str) -> None:
    text = fabric(one=[("a1", description), ("a2", description)], two=[("a3", "n3 mlx5_0")])

    topology = imported(text, tmp_path)

    assert topology.hosts == ("guid-a1", "guid-a2", "n3")


def test_two_ports_of_a_card_without_a_name_are_one_host(tmp_path: Path) -> None:
    text = fabric(one=[("a1", "localhost HCA-1"), ("a2", "localhost HCA-2")], two=[("a3", "n3")])

    topology = imported(text.replace("sysimgguid=0xa2", "sysimgguid=0xa1"), tmp_path)

    assert topology.hosts == ("guid-a1", "n3")


def test_switches_of_one_description_are_several(tmp_path: Path) -> None:
    text = fabric(one=[("a1", "n1 mlx5_0")], two=[("a2", "n2 mlx5_0")])

    topology = imported(text.replace('"one"', '"MF0"').replace('"two"', '"MF0"'), tmp_path)

    assert topology.router_of_host == ("MF0 (b001)", "MF0 (b002)")


def test_damaged_rails_are_refused(tmp_path: Path) -> None:
    topology = import_topology("infiniband", Given(GOLDEN / "two-rails.txt"))
    routes = topology.routes
    arrays = {**routes.arrays(), "adapter_of_rail": np.array([[0, 9]])}

    with pytest.raises(InputError, match="adapter_of_rail: names what is not there"):
        RailRoutes.from_arrays(arrays, topology.links.num_links)


@pytest.mark.parametrize("spelling", ['"H-{0}"', '"H-0x{0}"', '"H-{1}"'])
def test_guids_are_read_in_every_spelling(tmp_path: Path, spelling: str) -> None:
    text = fabric(one=[("a1", "n1 mlx5_0"), ("a2", "n2 mlx5_0")], two=[("a3", "n3 mlx5_0")])
    for guid in ("a1", "a2", "a3"):
        text = text.replace(f'"H-{guid}"', spelling.format(guid, guid.upper()))

    topology = imported(text, tmp_path)

    assert (topology.hosts, topology.problems) == (("n1", "n2", "n3"), ())
    assert "a1:1" in topology.links.out_ports


def test_output_of_two_runs_is_one_fabric(tmp_path: Path) -> None:
    text = fabric(one=[("a1", "n1 mlx5_0"), ("a2", "n2 mlx5_0")], two=[("a3", "n3 mlx5_0")])

    once, twice = imported(text, tmp_path), imported(text + text, tmp_path)

    assert twice.problems == ()
    assert twice.links.num_links == once.links.num_links


def test_cable_that_ibdiagnet_lists_from_both_ends_is_one(tmp_path: Path) -> None:
    text = (GOLDEN.parent / "ibdiagnet" / "ibdiagnet2.db_csv").read_text()
    row = "0x0c42a1030000a001,1,0x0c42a10300000001,1"
    one, one_port, other, other_port = row.split(",")
    (tmp_path / "f").write_text(text.replace(row, f"{row}\n{other},{other_port},{one},{one_port}"))

    topology = import_topology("ibdiagnet", Given(tmp_path / "f"))

    assert (topology.hosts, topology.problems) == (("n1", "n2", "n3"), ())


def test_description_in_no_encoding_costs_nothing_else(tmp_path: Path) -> None:
    text = fabric(one=[("a1", "n1 mlx5_0"), ("a2", "n2 mlx5_0")], two=[("a3", "n3 mlx5_0")])
    (tmp_path / "f").write_bytes(text.encode().replace(b'"two"', b'"\xe9t\xff"'))

    topology = import_topology("infiniband", Given(tmp_path / "f"))

    assert (topology.hosts, topology.problems) == (("n1", "n2", "n3"), ())


def test_host_that_lacks_one_rail_is_reached_by_the_other(tmp_path: Path) -> None:
    # Nothing joins the two switches, and a is on the second alone.
    text = fabric(
        one=[("b1", "b mlx5_0"), ("c1", "c mlx5_0")],
        two=[("a2", "a mlx5_1"), ("b2", "b mlx5_1"), ("c2", "c mlx5_1")],
    )
    lines = text.splitlines(keepends=True)
    joined = "".join(line for line in lines if "spine" not in line and "[36]" not in line)

    topology = imported(joined, tmp_path)

    assert topology.hops()(*np.triu_indices(3, 1)).tolist() == [2, 2, 2]
    assert not any("no path" in line for line in topology.problems)
