# SPDX-License-Identifier: Apache-2.0
"""topology.conf and topology.yaml mean what Slurm takes them for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle" / "slurm"
TWO_LEAVES = [[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]


def imported(folder: Path, text: str, name: str = "topology.conf") -> Topology:
    (folder / name).write_text(text)
    return import_topology("slurm", Given(folder / name))


def hops(topology: Topology, *hosts: str) -> list[list[float]]:
    at = topology.indices(hosts or topology.hosts)
    counted: list[list[float]] = topology.hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


@pytest.mark.parametrize(
    "name", ["lower.conf", "quoted.conf", "cont.conf", "twospines.conf", "flatmap.yaml"]
)
def test_two_leaves_are_read_in_every_spelling(name: str) -> None:
    topology = import_topology("slurm", Given(GOLDEN / name))

    assert topology.hosts == ("n1", "n2", "n3", "n4")
    assert hops(topology) == TWO_LEAVES


def test_example_of_the_manual_is_read() -> None:
    topology = import_topology("slurm", Given(GOLDEN / "manual.yaml"))

    assert topology.hosts == ("node01", "node02", "node03", "node04")
    assert hops(topology) == TWO_LEAVES


FLOW = """# all in one line
[{topology: a, cluster_default: false, flat: true},
 {topology: t, cluster_default: yes, tree: {switches: [
   {switch: root, children: "s[1-2]"}, {switch: s1, nodes: [n1, n2]},
   {switch: s2, nodes: "n[3-4]"}]}}]
"""
ANCHORS = """%YAML 1.1
---
- topology: t
  cluster_default: on
  tree:
    switches:
      - {switch: root, children: 's1,s2'} # two
      - switch: s1
        nodes: >-
          n[1-2]
      - nodes: n[3-4]
        switch: "s2"
"""


@pytest.mark.parametrize("text", [FLOW, ANCHORS])
def test_yaml_is_read_in_its_other_styles(tmp_path: Path, text: str) -> None:
    assert hops(imported(tmp_path, text, "topology.yaml")) == TWO_LEAVES


@pytest.mark.parametrize("default", ["true", "false"])
def test_flat_default_is_passed_over_for_one_that_says_more(tmp_path: Path, default: str) -> None:
    text = f"- {{topology: f, cluster_default: {default}, flat: true}}\n" + ANCHORS.partition(
        "---\n"
    )[2].replace("cluster_default: on", "cluster_default: false")

    topology = imported(tmp_path, text, "topology.yaml")

    assert hops(topology) == TWO_LEAVES
    assert topology.problems == ("topology 'f' is flat: 't' is taken",)


def test_blocks_of_yaml_are_read(tmp_path: Path) -> None:
    text = "- topology: b\n  block: {block_sizes: [2, 4], blocks: [{block: b1, nodes: 'n[1-2]'},"
    text += " {block: b2, nodes: 'n[3-4]'}, {block: b3, nodes: 'n[5-6]'}]}\n"

    topology = imported(tmp_path, text, "topology.yaml")

    assert hops(topology)[0] == [0, 2, 4, 4, 6, 6]


def test_included_file_and_spaces_are_read(tmp_path: Path) -> None:
    (tmp_path / "leaf2.conf").write_text("SwitchName = s2  Nodes = n[3-4]\r\n")
    text = "SWITCHNAME=s1 NODES=n1,n2 # LinkSpeed=1\nInclude leaf2.conf\n"
    text += "SwitchName=root Switches=s1,\\\r\ns2\r\n"

    assert hops(imported(tmp_path, text)) == TWO_LEAVES


def test_lists_with_spaces_and_commas_at_their_ends_are_read(tmp_path: Path) -> None:
    text = 'SwitchName=s1 Nodes="n1, n2"\nSwitchName=s2 Nodes=n[3-4],\n'
    text += 'SwitchName=root Switches="s1 ,s2"\n'

    assert hops(imported(tmp_path, text)) == TWO_LEAVES


def test_host_of_a_switch_with_switches_is_not_lost(tmp_path: Path) -> None:
    text = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=root Switches=s1 Nodes=n[1-3]\n"

    with pytest.raises(InputError, match=r"conf:2: switch 'root' has switches .* and host 'n3'"):
        imported(tmp_path, text)


def test_switch_below_two_others_takes_the_shorter_path(tmp_path: Path) -> None:
    # By its last parent alone, leaf1 would reach leaf2 over the root only: six links.
    text = """
SwitchName=leaf1 Nodes=n1
SwitchName=leaf2 Nodes=n2
SwitchName=leaf3 Nodes=n3
SwitchName=spine1 Switches=leaf[1-2]
SwitchName=spine2 Switches=leaf1,leaf3
SwitchName=root Switches=spine[1-2]
"""
    topology = imported(tmp_path, text)

    assert hops(topology) == [[0, 4, 4], [4, 0, 6], [4, 6, 0]]
    assert topology.problems == (
        "switch 'leaf1' is below several switches (spine1, spine2): routes take the shortest path",
    )


def test_host_below_two_leaf_switches_is_near_to_both(tmp_path: Path) -> None:
    text = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[2-3]\nSwitchName=r Switches=s[1-2]\n"

    topology = imported(tmp_path, text)

    assert hops(topology) == [[0, 2, 4], [2, 0, 2], [4, 2, 0]]
    assert topology.problems[0].startswith("host 'n2' is below several switches (s1, s2)")
    assert {"host n2", "host n2 on s2"} <= set(topology.links.out_ports)


def test_switches_connected_to_nothing_are_not_near(tmp_path: Path) -> None:
    text = "SwitchName=a Nodes=a[1-2]\nSwitchName=b Nodes=b1\nSwitchName=r Switches=a,b\n"
    text += "SwitchName=c Nodes=c[1-2]\nSwitchName=d Nodes=d1\n"

    topology = imported(tmp_path, text)

    found = hops(topology, "a1", "b1", "c1", "d1")
    assert found == [[0, 4, 6, 6], [4, 0, 6, 6], [6, 6, 0, 6], [6, 6, 6, 0]]
    assert hops(topology, "c1", "c2")[0][1] == 2
    assert topology.problems[0].startswith("no switch is above all nodes: what is between r and c")


def test_no_route_between_parts_is_unknown(tmp_path: Path) -> None:
    text = (GOLDEN / "twospines.conf").read_text() + "SwitchName=x Nodes=x1\n"

    topology = imported(tmp_path, text)

    assert np.isnan(hops(topology, "n1", "x1")[0][1])


def test_leaves_of_a_fat_tree_take_one_line(tmp_path: Path) -> None:
    text = "".join(f"SwitchName=l{leaf} Nodes=n{leaf}\n" for leaf in range(1, 5))
    text += "SwitchName=a Switches=l[1-4]\nSwitchName=b Switches=l[1-4]\n"

    topology = imported(tmp_path, text)

    assert {row for rows in hops(topology) for row in rows} == {0, 4}
    assert topology.problems == (
        "switch 'l1' is below several switches (a, b) (and 3 more): routes take the shortest path",
    )


def test_node_that_a_block_names_twice_is_one(tmp_path: Path) -> None:
    topology = imported(tmp_path, "BlockName=b Nodes=n1,n[1-2]\nBlockSizes=2\n")

    assert topology.hosts == ("n1", "n2")


def test_a_block_that_is_named_twice_is_refused_as_slurm_does(tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_text("BlockName=b1 Nodes=n[1-2]\nBlockName=b1 Nodes=n[3-4]\nBlockSizes=2\n")

    with pytest.raises(InputError, match=r"topology\.conf:2: block 'b1' has already been"):
        import_topology("slurm", Given(file))


def test_comments_may_be_in_any_encoding(tmp_path: Path) -> None:
    file = tmp_path / "topology.conf"
    file.write_bytes(b"# salle m\xe9ca\nSwitchName=s1 Nodes=n[1-2] # \xfc\n")

    assert import_topology("slurm", Given(file)).hosts == ("n1", "n2")
