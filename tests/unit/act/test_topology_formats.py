# SPDX-License-Identifier: Apache-2.0
"""Groups of hosts as others read them: Slurm, Kubernetes, Graphviz, JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import slurm_controller
import yaml

import fairlead as fl
from fairlead.act.topology_formats import TOPOLOGY_FORMATS
from fairlead.errors import InputError, TopologyError
from fairlead.measure.host_groups import measured_groups
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.measure.topologies.switch_tree import tree_topology
from fairlead.model.host_groups import HostGroups, groups_of_topology

GOLDEN = Path(__file__).parents[2] / "golden" / "oracle"
PODS = {
    "h0": ("core", "pod 1", "r/1"),
    "h1": ("core", "pod 1", "r/1"),
    "h2": ("core", "pod 1", "r 1"),
    "h3": ("core", "pod 2", "r2"),
    "h4": ("core", "pod 2", "r2"),
}
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def network(group_of_host: list[str]) -> fl.Network:
    """Hosts whose groups have one letter for each level, the largest first."""
    names = np.array([list(group) for group in group_of_host])
    is_near = np.cumprod(names[:, None] == names[None], axis=2)
    far = 4.0 ** (2 - is_near.sum(axis=2))
    latency_s, bandwidth_Bps = 1e-5 * far, 1e10 / far
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    return fl.Network([f"n{host}" for host in range(len(group_of_host))], latency_s, bandwidth_Bps)


def written(form: str, groups: HostGroups) -> str:
    return TOPOLOGY_FORMATS[form].text(groups)


def hops(path: Path) -> list[list[float]]:
    topology = import_topology("slurm", Given(path))
    order = sorted(topology.hosts)
    at = topology.indices(order)
    counted: list[list[float]] = topology.hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


def test_racks_inside_pods_are_found_in_a_measured_network() -> None:
    # Interleaved: hosts of a rack do not follow one another.
    groups = measured_groups(network(["xx", "yx", "xy", "yy"] * 4))

    assert groups.num_levels == 3
    assert list(groups.levels()[0]) == ["all"]
    assert groups.levels()[1] == {
        f"group{pod}": [f"group{pod}-1", f"group{pod}-2"] for pod in (1, 2)
    }
    assert groups.levels()[2]["group1-1"] == ["n0", "n4", "n8", "n12"]
    assert not groups.problems


def test_an_even_network_has_one_group_and_says_so() -> None:
    groups = measured_groups(network(["xx"] * 8))

    assert groups.levels() == [{"all": [f"n{host}" for host in range(8)]}]
    assert list(groups.problems) == ["the measurement shows no groups of near hosts"]


def test_groups_of_an_imported_tree_are_its_switches() -> None:
    topology = import_topology("slurm", Given(GOLDEN / "slurm" / "topology_tree.conf"))
    groups = groups_of_topology(topology)

    assert groups.groups_of_host["node001"] == ("spine1", "leaf1")
    assert groups.levels()[0] == {"spine1": ["leaf1", "leaf2"]}


@pytest.mark.parametrize("form", ["slurm-topology", "slurm-topology-yaml"])
def test_what_is_written_for_slurm_is_read_back_with_the_same_distances(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / ("topology.yaml" if form.endswith("yaml") else "topology.conf")
    path.write_text(written(form, HostGroups(PODS)))

    # Two in one rack, two racks of a pod, two pods.
    assert hops(path)[0] == [0, 2, 4, 6, 6]


def test_names_that_differ_only_in_refused_letters_stay_different() -> None:
    text = written("slurm-topology", HostGroups(PODS))

    assert text.splitlines()[:2] == ["SwitchName=r_1 Nodes=h0,h1", "SwitchName=r_1-2 Nodes=h2"]


def test_blocks_are_the_lowest_groups_and_sizes_double() -> None:
    groups = HostGroups({f"h{host}": ("all", f"b{host // 4}") for host in range(16)})

    assert written("slurm-block", groups).splitlines() == [
        *(f"BlockName=b{b} Nodes={','.join(f'h{4 * b + i}' for i in range(4))}" for b in range(4)),
        "BlockSizes=4,8,16",
    ]


def test_a_host_right_below_a_large_group_gets_a_switch_of_its_own() -> None:
    groups = HostGroups({"a": ("core", "leaf"), "b": ("core", "leaf"), "c": ("core",)})

    assert written("slurm-topology", groups).splitlines() == [
        "SwitchName=leaf Nodes=a,b",
        "SwitchName=core-direct Nodes=c",
        "SwitchName=core Switches=leaf,core-direct",
    ]


@pytest.mark.skipif(slurm_controller.PROGRAM is None, reason="Slurm is not installed")
@pytest.mark.skipif(os.getuid() != 0, reason="slurmctld runs as SlurmUser, here root")
def test_slurms_controller_reads_the_switches(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(written("slurm-topology", HostGroups(PODS)))

    assert slurm_controller.read_switches(tmp_path, list(PODS)) == {
        "r_1": (0, "h0,h1", "(null)"),
        "r_1-2": (0, "h2", "(null)"),
        "r2": (0, "h3,h4", "(null)"),
        "pod_1": (1, "h0,h1,h2", "r_1,r_1-2"),
        "pod_2": (1, "h3,h4", "r2"),
        "core": (2, "h0,h1,h2,h3,h4", "pod_1,pod_2"),
    }


def needs_slurm(major: int, minor: int, what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        slurm_controller.version() < (major, minor) or os.getuid() != 0,
        reason=f"{what} needs Slurm {major}.{minor:02}, and slurmctld to run as root",
    )


EVEN = HostGroups({f"h{host}": ("all", f"b{host // 4}") for host in range(16)})
BLOCKS = ("h0,h1,h2,h3", "h4,h5,h6,h7", "h8,h9,h10,h11", "h12,h13,h14,h15")
READ_BLOCKS = {
    **{f"b{block}": hosts for block, hosts in enumerate(BLOCKS)},
    **{"b[0-1]": ",".join(BLOCKS[:2]), "b[2-3]": ",".join(BLOCKS[2:]), "b[0-3]": ",".join(BLOCKS)},
}


@needs_slurm(23, 11, "topology/block")
def test_slurms_controller_reads_the_blocks(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(written("slurm-block", EVEN))

    assert slurm_controller.read_blocks(tmp_path, list(EVEN.groups_of_host)) == READ_BLOCKS


@needs_slurm(25, 5, "topology.yaml")
def test_slurms_controller_reads_tree_and_blocks_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "topology.yaml").write_text(written("slurm-topology-yaml", EVEN))
    hosts = list(EVEN.groups_of_host)

    switches = slurm_controller.read_switches(tmp_path, hosts, "")
    blocks = slurm_controller.read_blocks(tmp_path, hosts, "")

    assert switches["all"] == (1, ",".join(BLOCKS), "b0,b1,b2,b3")
    assert switches["b3"] == (0, BLOCKS[3], "(null)")
    assert blocks == READ_BLOCKS


def test_labels_are_those_of_nodes_and_hold_to_the_rules_of_kubernetes() -> None:
    document = yaml.safe_load(written("kubernetes", HostGroups(PODS)))

    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in document["items"]}
    assert {(node["apiVersion"], node["kind"]) for node in document["items"]} == {("v1", "Node")}
    assert nodes["h2"] == {
        "network.topology.nvidia.com/leaf": "r_1-2",
        "network.topology.nvidia.com/spine": "pod_1",
        "network.topology.nvidia.com/core": "core",
        "fabric.topograph.run/tier-0": "r_1-2",
        "fabric.topograph.run/tier-1": "pod_1",
        "fabric.topograph.run/tier-2": "core",
    }
    values = [value for labels in nodes.values() for value in labels.values()]
    assert all(map(LABEL_VALUE.fullmatch, values))


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_reads_the_nodes_and_takes_their_labels(tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(written("kubernetes", HostGroups(PODS)))

    # With --local no cluster is asked: it decodes the nodes and checks the labels by itself.
    done = subprocess.run(
        ["kubectl", "label", "--local", "--filename", path, "fairlead.dev/rank=000001",
         "--output=json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    decoder, text, nodes = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        node, end = decoder.raw_decode(text)
        nodes += node.get("items", [node])
        text = text[end:].strip()
    assert [node["metadata"]["name"] for node in nodes] == list(PODS)
    assert nodes[2]["metadata"]["labels"]["network.topology.nvidia.com/leaf"] == "r_1-2"
    assert nodes[2]["metadata"]["labels"]["fairlead.dev/rank"] == "000001"


def test_long_names_are_cut_to_what_a_label_holds_and_stay_different() -> None:
    groups = HostGroups({f"h{i}": ("all", f"{i}{'x' * 80}") for i in range(3)})
    document = yaml.safe_load(written("kubernetes", groups))

    leaves = [n["metadata"]["labels"]["fabric.topograph.run/tier-0"] for n in document["items"]]
    assert len(set(leaves)) == 3
    assert all(LABEL_VALUE.fullmatch(leaf) for leaf in leaves)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_every_group_and_host_once() -> None:
    text = written("dot", HostGroups({**PODS, 'q"\\': ("core", "pod 1", "r/1")}))
    drawn = subprocess.run(
        ["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert sum(line.startswith("node ") for line in drawn) == 6 + 6
    assert sum(line.startswith("edge ") for line in drawn) == 6 + 3 + 2


def test_json_has_levels_and_no_number_that_json_has_not() -> None:
    groups = HostGroups(PODS, {"how": "measured", "load": float("nan")})
    document = json.loads(written("json", groups), parse_constant=pytest.fail)

    assert document["levels"][1] == {"pod 1": ["r/1", "r 1"], "pod 2": ["r2"]}
    assert document["origin"] == {"how": "measured", "load": None}


def test_routes_that_are_no_tree_leave_one_level_and_a_line() -> None:
    topology = import_topology("infiniband", Given(GOLDEN / "infiniband" / "ibnetdiscover.txt"))
    groups = groups_of_topology(topology)

    assert groups.num_levels == 2
    assert "are no tree: only which hosts are on one router" in groups.problems[0]


def test_a_host_whose_name_slurm_cannot_read_is_named() -> None:
    with pytest.raises(InputError, match=r"slurm: host 'h\[0\]': expected a name of letters"):
        written("slurm-topology", HostGroups({"h[0]": ("all",)}))


def test_a_group_in_two_others_is_refused() -> None:
    with pytest.raises(TopologyError, match="'r' is in two others"):
        HostGroups({"a": ("p", "r"), "b": ("q", "r")})


def test_a_tree_of_a_site_without_a_top_is_still_written() -> None:
    topology = tree_topology({"a": ["x"], "b": ["y"]}, {"how": "test"}, "test")

    assert written("slurm-topology", groups_of_topology(topology)).splitlines()[-1] == (
        "SwitchName=root Switches=x,y"
    )
