# SPDX-License-Identifier: Apache-2.0
"""Topologies are read as Gemini, InfiniBand, Slurm and clouds give them; each mistake is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torus_files import interconnect

from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import TableRoutes, Topology, TorusRoutes

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"


def cname(at: object) -> str:
    x, y, z = at  # type: ignore[misc]
    return f"c{x}-0c0s{z}g{y}"


def written(folder: Path, text: str, name: str = "given.txt") -> Path:
    (folder / name).write_text(text)
    return folder / name


def ports(topology: Topology, src: str, dst: str) -> list[str]:
    return [topology.links.out_ports[link] for link in topology.route(src, dst)]


def test_gemini_has_the_maximum_of_its_medium_for_each_tile() -> None:
    topology = import_topology("gemini", Given(GOLDEN / "cray" / "rtr_interconnect.txt"))

    capacity_Bps = dict(zip(topology.links.out_ports, topology.links.capacity_Bps, strict=True))
    assert capacity_Bps["0,0,0 Z+"] == 2 * 5e9 * 3 / 8  # two tiles of the backplane
    assert capacity_Bps["0,0,0 X+"] == 3 * 3.125e9 * 3 / 8
    assert capacity_Bps["0,0,0 Y+"] == 6.25e9 * 3 / 8
    assert topology.nic_Bps is not None and set(topology.nic_Bps) == {6e9}


def test_counter_of_a_link_belongs_to_its_receiving_end(tmp_path: Path) -> None:
    file = written(tmp_path, interconnect(3, 2, 2))
    topology = import_topology("gemini", Given(file))

    (link,) = topology.route("c0-0c0s0n0", "c1-0c0s0n0")

    assert (topology.links.out_ports[link], topology.links.in_ports[link]) == (
        "0,0,0 X+",
        "1,0,0 X-",
    )


def test_missing_router_is_reported_and_leaves_the_others_usable() -> None:
    topology = import_topology("gemini", Given(GOLDEN / "cray" / "rtr_interconnect.txt"))

    assert topology.problems[0] == (
        "no router at (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1): what routes through there meet "
        "is unknown"
    )
    assert ports(topology, "c0-0c0s0n0", "c0-0c0s1n1") == ["0,0,0 Z+"]


def test_nodes_come_from_xtprocadmin(tmp_path: Path) -> None:
    file = written(tmp_path, interconnect(2, 2, 2))
    nodes = written(
        tmp_path,
        "NODEID     (HEX)      NODENAME     TYPE    STATUS         MODE\n"
        "     0       0x0    c0-0c0s0n0  service        up  interactive\n"
        "    50      0x32    c1-0c0s1n3  compute        up  interactive\n",
        "nodes.txt",
    )

    topology = import_topology("gemini", Given(file, nodes))

    assert (topology.hosts, topology.router_of_host) == (("nid00050",), ("c1-0c0s1g1",))
    assert topology.coordinates is not None and topology.coordinates.tolist() == [[1, 1, 1]]


def test_nodes_come_from_their_coordinates_in_ldms(tmp_path: Path) -> None:
    file = written(tmp_path, interconnect(3, 2, 8))
    nodes = GOLDEN / "cray" / "ldms_ls-l-gemini-v2-style.txt"

    topology = import_topology("gemini", Given(file, nodes))

    assert topology.hosts == ("nid00050",)
    assert topology.coordinates is not None and topology.coordinates.tolist() == [[1, 0, 6]]


def route_line(*places: tuple[int, int, int]) -> str:
    """A route as it is printed: no separator between a cname and its tiles, and wrapped."""
    return " ->\n ".join(f"06,07,16-22{cname(at)}00,01,25-27" for at in places) + "\n"


def test_routes_by_rule_stay_formulas(tmp_path: Path) -> None:
    file = written(tmp_path, interconnect(4, 2, 2))
    routes = written(tmp_path, route_line((0, 0, 0), (1, 0, 0)), "routes.txt")

    topology = import_topology("gemini", Given(file, None, routes))

    assert isinstance(topology.routes, TorusRoutes)
    assert topology.origin["num_routes_not_by_rule"] == 0


def test_routes_that_differ_from_the_rule_are_taken_as_they_are(tmp_path: Path) -> None:
    file = written(tmp_path, interconnect(3, 3, 3))
    listed = route_line((0, 0, 0), (0, 1, 0), (1, 1, 0)) + route_line((2, 2, 2), (0, 2, 2))
    routes = written(tmp_path, listed, "routes.txt")

    topology = import_topology("gemini", Given(file, None, routes))

    assert isinstance(topology.routes, TableRoutes)
    assert (topology.origin["num_routes"], topology.origin["num_routes_not_by_rule"]) == (2, 1)
    assert ports(topology, "c0-0c0s0n0", "c1-0c0s0n2") == ["0,0,0 Y+", "0,1,0 X+"]
    # The others go on by the rule: here X, then Z.
    assert ports(topology, "c0-0c0s0n0", "c1-0c0s2n0") == ["0,0,0 X+", "1,0,0 Z-"]
    assert ports(topology, "c0-0c0s0n0", "c0-0c0s0n1") == []


def test_route_over_an_unknown_link_is_refused() -> None:
    given = Given(
        GOLDEN / "cray" / "rtr_interconnect.txt", None, GOLDEN / "cray" / "rtr_phys-routes.txt"
    )

    with pytest.raises(
        InputError, match=r"route 1: there is no link from c0-0c0s1g0 to c0-0c0s2g0$"
    ):
        import_topology("gemini", given)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("c0-0c0s0g0l00[(0,0,0)] Z+ ->", r":2: expected c0-0c0s0g0l00\[\(0,0,0\)\] X\+ -> "),
        (
            "c0-0c0s0g0l00[(0,0,0)] Z+ -> c0-0c0s1g0l32[(0,0,1)] LinkType: rope",
            ":2: unknown medium 'rope'; there are mezzanine, backplane, cable",
        ),
        (
            "c0-0c0s0g0l00[(0,0,0)] X+ -> c0-0c1s0g0l32[(0,1,1)] LinkType: cable",
            r":2: c0-0c1s0g0 is at \(0, 1, 1\), but was at \(1, 0, 0\)",
        ),
        (
            "c0-0c0s9g0l00[(0,0,0)] Z+ -> c0-0c0s1g0l32[(0,0,1)] LinkType: cable",
            r":2: c0-0c0s9g0 is at \(0, 0, 0\), where c0-0c0s0g0 is",
        ),
        (
            "c0-0c0s0g0l01[(0,0,0)] X+ -> c0-0c2s0g0l32[(2,0,0)] LinkType: cable",
            ":2: X. of c0-0c0s0g0 leads to c0-0c2s0g0, but led to c0-0c1s0g0",
        ),
        (
            "c0-0c1s0g0l01[(1,0,0)] X+ -> c0-0c3s0g0l32[(3,0,0)] LinkType: cable",
            r": X\+ of c0-0c1s0g0 at .* leads to c0-0c3s0g0 at .* not to \(2, 0, 0\)",
        ),
    ],
)
def test_wrong_line_of_an_interconnect_is_named(tmp_path: Path, line: str, problem: str) -> None:
    first = "c0-0c0s0g0l02[(0,0,0)] X+ -> c0-0c1s0g0l02[(1,0,0)] LinkType: cable11x"
    file = written(tmp_path, f"{first}\n{line}\n")

    with pytest.raises(InputError, match=problem):
        import_topology("gemini", Given(file))


def test_infiniband_routes_run_over_cables() -> None:
    topology = import_topology("infiniband", Given(GOLDEN / "infiniband" / "ibnetdiscover.txt"))

    assert topology.hosts == ("node001", "node002", "node003")
    assert ports(topology, "node001", "node002") == ["a01:1", "1001:2"]
    assert ports(topology, "node001", "node003") == ["a01:1", "1001:40", "2001:2", "1002:1"]
    capacity_Bps = dict(zip(topology.links.out_ports, topology.links.capacity_Bps, strict=True))
    assert (capacity_Bps["1001:40"], capacity_Bps["2001:2"]) == (25e9, 12.5e9)  # 4xHDR, 2xHDR
    assert not topology.problems


def test_infiniband_routes_follow_forwarding_tables(tmp_path: Path) -> None:
    text = (GOLDEN / "infiniband" / "ibnetdiscover.txt").read_text()
    # A second cable from leaf to spine, which only the tables choose.
    text = text.replace(
        '[41]	"H-0000000000001f01"',
        '[39]	"S-0000000000002001"[9]		# "spine" lid 21 4xHDR\n[41]	"H-0000000000001f01"',
    ).replace(
        '[2]	"S-0000000000001002"[40]',
        '[9]	"S-0000000000001001"[39]		# "leaf1" lid 11 4xHDR\n'
        '[2]	"S-0000000000001002"[40]',
    )
    tables = "".join(
        f"Unicast lids [0x0-0x67] of switch Lid 11 guid 0x000000000000{guid} (MF0):\n"
        "  Lid  Out   Destination\n       Port     Info\n"
        + "".join(f"0x{lid:04x} {port:03d} : (Channel Adapter)\n" for lid, port in rows)
        for guid, rows in (
            ("1001", [(101, 1), (102, 2), (103, 39)]),
            ("1002", [(101, 40), (102, 40), (103, 1)]),
            ("2001", [(101, 9), (102, 9), (103, 2)]),
        )
    )

    topology = import_topology(
        "infiniband",
        Given(written(tmp_path, text), None, written(tmp_path, tables, "tables.txt")),
    )

    assert ports(topology, "node001", "node003") == ["a01:1", "1001:39", "2001:2", "1002:1"]
    assert ports(topology, "node003", "node001") == ["a03:1", "1002:40", "2001:9", "1001:1"]


def test_half_of_ibnetdiscover_is_reported(tmp_path: Path) -> None:
    text = (GOLDEN / "infiniband" / "ibnetdiscover.txt").read_text()
    half = text[: text.index('Ca	1 "H-0000000000000a03"')]

    topology = import_topology("infiniband", Given(written(tmp_path, half)))

    assert topology.hosts == ("node001", "node002")
    assert topology.problems == ("1 cables lead to nodes that the file does not describe",)


def test_file_that_is_not_of_ibnetdiscover_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, "# of something else\nSwitchName=a Nodes=b\n")

    with pytest.raises(InputError, match="got line 2: 'SwitchName=a Nodes=b'"):
        import_topology("infiniband", Given(file))


SLURM = ("scontrol_show_topology_tree.txt", "topology.yaml", "topology_tree.conf")


@pytest.mark.parametrize("name", SLURM)
def test_slurm_tells_its_tree_in_three_ways(name: str) -> None:
    topology = import_topology("slurm", Given(GOLDEN / "slurm" / name))

    assert topology.num_hosts == 8
    assert topology.router_of_host == ("leaf1",) * 4 + ("leaf2",) * 4
    assert ports(topology, "node001", "node009") == [
        "host node001",
        "switch leaf1",
        "above switch leaf2",
        "above host node009",
    ]


def test_slurm_blocks_of_the_next_size_are_grouped() -> None:
    topology = import_topology("slurm", Given(GOLDEN / "slurm" / "topology_block.conf"))

    assert topology.router_of_host == ("b1",) * 4 + ("b2",) * 4
    assert topology.hops()(np.array([0, 0, 0]), np.array([0, 1, 4])).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SwitchName=a Switches=b\n", ":1: switch 'a' names 'b', unknown"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", ":1: switch 'a' is below itself"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", ":2: switch 'a' has already been de"),
        ("SwitchName=a Level=0\n", "names no host below a switch"),
        ("SwitchName=a Nodes=n[1-\n", r":1: Nodes='n\[1-': brackets do not match"),
        ("SwitchName\n", ":1: expected Name=value fields"),
        ("BlockName=a Nodes=n1\nBlockSizes=4,six\n", ":2: BlockSizes: expected whole numbers"),
        ("BlockName=a Nodes=n1\nBlockSizes=4,6\n", ":2: BlockSizes: 6 is no multiple of 4"),
        ("- topology: x\n  flat: true\n", "topology 'x' is flat: it has no switches and no blocks"),
        ("- topology: [x\n", "is not YAML: while parsing a flow sequence"),
        ("- [x]\n", "the document: expected a list of `name: value` entries"),
        ("- {topology: x, tree: {switches: [{nodes: n1}]}}", "expected the name of a switch"),
        ("include given.txt\n", "includes more than 16 files in a row"),
    ],
)
def test_wrong_line_of_slurms_topology_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        import_topology("slurm", Given(written(tmp_path, text)))


def test_aws_network_nodes_are_a_tree() -> None:
    topology = import_topology("aws", Given(GOLDEN / "aws" / "describe-instance-topology.json"))

    hops = topology.hops()(np.zeros(4, dtype=int), np.arange(4))
    assert hops.tolist() == [0, 2, 4, 6]


def test_aws_edge_cases_are_reported() -> None:
    topology = import_topology(
        "aws", Given(GOLDEN / "aws" / "describe-instance-topology-edge-cases.json")
    )

    assert topology.problems == (
        "it is one page of several: NextToken is set; ask without --max-results",
        "nothing is known of where i-0bbbbbbbbbbbbbbb2 is: taken to be as far from the others as "
        "what is known allows",
    )


def test_instances_get_the_names_of_their_hosts(tmp_path: Path) -> None:
    nodes = written(tmp_path, "i-0aaaaaaaaaaaaaaa3 n3\ni-0aaaaaaaaaaaaaaa1 n1 # first\n")

    topology = import_topology(
        "aws", Given(GOLDEN / "aws" / "describe-instance-topology.json", nodes)
    )

    assert topology.hosts == ("n3", "n1")


def test_gcp_tells_blocks_and_hosts() -> None:
    topology = import_topology("gcp", Given(GOLDEN / "gcp" / "instances-list.json"))

    assert topology.router_of_host == ("c1/b1/s1/h1", "c1/b1/s2/h2", "(root)")
    (problem,) = topology.problems
    assert problem.startswith("nothing is known of where hpc-2 is: ")


def test_oci_tells_blocks_of_each_host(tmp_path: Path) -> None:
    place = (GOLDEN / "oci" / "imds-host-rdmaTopologyData.json").read_text()
    other = place.replace("examplec", "exampled")
    file = written(tmp_path, f'{{"a": {place}, "b": {place}, "c": {other}}}')

    topology = import_topology("oci", Given(file))

    hops = topology.hops()(np.zeros(3, dtype=int), np.arange(3))
    assert hops.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("aws", '{"Instances": [{"Inst', "is not JSON, or not all of it"),
        ("aws", "[]", "Instances: expected a list of instances"),
        ("aws", '{"Instances": [{}]}', r"Instances\[0\].InstanceId: expected a name, got None"),
        ("gcp", '[{"name": 1}]', r"\[0\].name: expected a name, got 1"),
        ("oci", "[1]", "the document: expected an object, got a list"),
        ("oci", '{"a": [1]}', "expected an object of hosts and their rdmaTopologyData"),
    ],
)
def test_wrong_document_of_a_cloud_is_refused(
    tmp_path: Path, kind: str, text: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        import_topology(kind, Given(written(tmp_path, text)))


def test_file_of_routes_is_refused_where_it_has_no_use() -> None:
    with pytest.raises(InputError, match="x: slurm has no use for a file of routes"):
        import_topology("slurm", Given(Path("y"), None, Path("x")))
