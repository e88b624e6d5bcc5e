# SPDX-License-Identifier: Apache-2.0
"""Topologies of topograph, Kubernetes, OCI, ibdiagnet and LLDP: distances by hand, and refusals."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.act.topology_formats import TOPOLOGY_FORMATS
from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.host_groups import HostGroups
from fairlead.model.topology import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"


def sample(kind: str, name: str) -> Topology:
    return import_topology(kind, Given(GOLDEN / name))


def hops(topology: Topology, *hosts: str) -> list[list[float]]:
    at = topology.indices(hosts)
    counted: list[list[float]] = topology.known_hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


def test_layers_of_topograph_are_given_from_the_host_upwards() -> None:
    topology = sample("topograph", "topograph/graph.json")

    # Two leaves below one spine.
    assert hops(topology, "i-1", "i-2") == [[0, 4], [4, 0]]
    assert list(topology.router_of_host) == ["leaf-a", "leaf-b"]


def test_a_model_of_topograph_has_blocks_on_switches() -> None:
    topology = sample("topograph", "topograph/small-tree.yaml")

    assert topology.hosts == ("I21", "I22", "I25", "I34", "I35", "I36")
    assert hops(topology, "I21", "I25", "I36")[0] == [0, 2, 4]


def test_topographs_output_for_slurm_is_read_as_slurm_reads_it() -> None:
    topology = sample("slurm", "topograph/slurm-tree.conf")

    assert hops(topology, "srv1101", "srv1102", "srv1201", "srv2101")[0] == [0, 2, 4, 6]


def test_labels_of_nodes_are_levels_and_a_node_without_is_as_far_as_any() -> None:
    topology = sample("kubernetes", "kubernetes/nodes.json")

    assert hops(topology, "n1", "n2", "n3", "cpu")[0] == [0, 2, 6, 8]
    assert topology.origin["labels"][-1] == "network.topology.nvidia.com/leaf"
    assert "nothing is known of where cpu is" in topology.problems[0]


@pytest.mark.parametrize(
    ("levels", "owner"),
    [
        (("hpc_island_id", "network_block_id", "local_block_id"), "oci.oraclecloud.com/rdma."),
        (("fabric", "superpod", "leafgroup"), "backend.coreweave.cloud/"),
        (("gpu-cluster-id", "tier-2", "tier-1"), "topology.nebius.com/"),
    ],
)
def test_labels_of_further_clouds_are_levels(
    tmp_path: Path, levels: tuple[str, ...], owner: str
) -> None:
    places = {"a": "f/s/l", "b": "f/s/l", "c": "f/s/m", "d": "f/t/o"}
    nodes = [
        {
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {
                    f"{owner}{level}": value
                    for level, value in zip(levels, place.split("/"), strict=True)
                },
            },
        }
        for name, place in places.items()
    ]
    (tmp_path / "n.json").write_text(json.dumps({"kind": "List", "items": nodes}))

    topology = import_topology("kubernetes", Given(tmp_path / "n.json"))

    assert hops(topology, *places)[0] == [0, 2, 4, 6]


def test_levels_of_kueue_say_which_labels_count() -> None:
    topology = sample("kubernetes", "kubernetes/kueue.yaml")

    # Racks of one name in two halls are two racks.
    assert hops(topology, "a", "b", "c") == [[0, 4, 6], [4, 0, 6], [6, 6, 0]]


def test_other_kinds_of_kueue_are_passed_over(tmp_path: Path) -> None:
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology",
        "spec": {"levels": [{"nodeLabel": "site/block"}, {"nodeLabel": "kubernetes.io/hostname"}]},
    }  # fmt: skip
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "spec": {}}
    nodes = [
        {"kind": "Node", "metadata": {"name": name, "labels": {"site/block": block}}}
        for name, block in (("a", "x"), ("b", "x"), ("c", "y"))
    ]
    (tmp_path / "n.json").write_text(json.dumps({"items": [topology, flavor, *nodes]}))

    found = import_topology("kubernetes", Given(tmp_path / "n.json"))

    assert hops(found, "a", "b", "c")[0] == [0, 2, 4]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    (tmp_path / "n.json").write_text(json.dumps({"items": [*nodes, pod]}))
    with pytest.raises(InputError, match="expected Node or Topology, got 'Pod'"):
        import_topology("kubernetes", Given(tmp_path / "n.json"))


def test_labels_that_are_exported_are_imported_with_the_same_distances(tmp_path: Path) -> None:
    groups = HostGroups(
        {h: ("core", f"p{h[0]}", f"r{h[:2]}") for h in ("111", "112", "121", "211")}
    )
    (tmp_path / "nodes.yaml").write_text(TOPOLOGY_FORMATS["kubernetes"].text(groups))

    topology = import_topology("kubernetes", Given(tmp_path / "nodes.yaml"))

    assert hops(topology, "111", "112", "121", "211")[0] == [0, 2, 4, 6]


def test_whole_documents_of_ocis_metadata_service_are_read() -> None:
    topology = sample("oci", "oci/imds-hosts.json")

    assert hops(topology, "a", "b", "c")[0] == [0, 2, 4]
    assert topology.problems == ()


@pytest.mark.parametrize("kind", ["oci", "azure"])
def test_a_host_without_a_place_costs_none_of_the_others(tmp_path: Path, kind: str) -> None:
    part = {"oci": "rdmaTopologyData", "azure": "compute"}[kind]
    place = {
        "oci": {f"customer{name}": name for name in ("HPCIslandId", "NetworkBlock", "LocalBlock")},
        "azure": {"location": "eu", "placementGroupId": "g", "platformFaultDomain": "0"},
    }[kind]
    document = {"a": {part: place}, "b": {part: place}, "c": {part: None}}
    (tmp_path / "h.json").write_text(json.dumps(document))

    topology = import_topology(kind, Given(tmp_path / "h.json"))

    assert hops(topology, "a", "b", "c")[0][1] < hops(topology, "a", "b", "c")[0][2]
    assert any("c" in problem for problem in topology.problems)


def test_fault_domains_of_azure_are_below_their_placement_groups() -> None:
    topology = sample("azure", "azure/instances.json")

    # Fault domain 0 of another placement group is another one.
    assert hops(topology, "a", "b", "c", "d")[0] == [0, 2, 4, 6]
    assert topology.problems == ()


def test_a_machine_of_azure_outside_of_any_group_is_named(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "azure/instances.json").read_text())
    document["d"]["compute"].update(placementGroupId="", platformFaultDomain="0")
    (tmp_path / "a.json").write_text(json.dumps(document))

    topology = import_topology("azure", Given(tmp_path / "a.json"))

    assert any("d" in problem for problem in topology.problems)


def test_tables_of_ibdiagnet_are_the_fabric_that_counters_name() -> None:
    topology = sample("ibdiagnet", "ibdiagnet/ibdiagnet2.db_csv")

    assert hops(topology, "n1", "n2", "n3")[0] == [0, 2, 4]
    assert "c42a10300000001:1" in topology.links.out_ports
    assert topology.problems == ()


SAMPLES = {
    "topograph": "topograph/graph.json",
    "kubernetes": "kubernetes/nodes.json",
    "oci": "oci/imds-hosts.json",
    "azure": "azure/instances.json",
    "ibdiagnet": "ibdiagnet/ibdiagnet2.db_csv",
    "lldp": "lldp/lldpctl.json",
    "ufm": "ufm/links.json",
    "slingshot": "slingshot/hsn_pt_pt.csv",
}


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize(
    "other", [*SAMPLES.values(), "slurm/topology_tree.conf", "binary", "empty"]
)
def test_a_file_of_another_kind_is_one_line_that_names_it(
    kind: str, other: str, tmp_path: Path
) -> None:
    path = GOLDEN / other
    if SAMPLES[kind] == other:
        return
    if other in ("binary", "empty"):
        path = tmp_path / other
        path.write_bytes(b"\x00\xff\xfe{" * 100 if other == "binary" else b"")

    with pytest.raises(InputError) as caught:
        import_topology(kind, Given(path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_file_that_is_cut_off_is_refused_or_read_with_its_problems_named(
    kind: str, tmp_path: Path
) -> None:
    text = (GOLDEN / SAMPLES[kind]).read_text()
    whole = import_topology(kind, Given(GOLDEN / SAMPLES[kind]))
    for end in range(0, len(text) - 200, max(1, len(text) // 40)):
        path = tmp_path / "cut"
        path.write_text(text[:end])
        try:
            topology = import_topology(kind, Given(path))
        except InputError as error:
            assert str(error).startswith(str(path))
        else:
            assert topology.problems or topology.hosts == whole.hosts


def test_nothing_but_the_tables_that_are_needed_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "large.db_csv"
    rows = "0x1,0x1,1," + "0," * 100 + "\n"
    text = (GOLDEN / SAMPLES["ibdiagnet"]).read_text()
    path.write_text(
        "START_PM_INFO\nNodeGUID,PortGUID,PortNumber\n" + rows * 40_000 + "END_PM_INFO\n" + text
    )
    tracemalloc.start()

    topology = import_topology("ibdiagnet", Given(path))

    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert topology.num_hosts == 3
    assert most_bytes < path.stat().st_size / 4


def test_large_yaml_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text("items:\n" + "- kind: Node\n" * (5 * 10**6 // 13))

    with pytest.raises(InputError, match=r"is YAML of more than 4194304 letters; give it as JSON"):
        import_topology("kubernetes", Given(path))


def test_hosts_of_two_islands_without_a_path_are_named(tmp_path: Path) -> None:
    def interface(name: str, system: str, port: str) -> dict[str, Any]:
        ends = {"chassis": {system: {}}, "port": {"id": {"type": "ifname", "value": port}}}
        return {name: ends}

    document: dict[str, Any] = {}
    for island in "ab":
        for host, leaf in enumerate(("x", "x", "y", "y")):
            lldp = {"interface": interface("eth0", f"{leaf}{island}", f"swp{host}")}
            document[f"{island}{host}"] = {"lldp": lldp}
        lldp = {"interface": [interface("swp9", f"y{island}", "swp9")]}
        document[f"x{island}"] = {"lldp": lldp}
    (tmp_path / "l.json").write_text(json.dumps(document))

    topology = import_topology("lldp", Given(tmp_path / "l.json"))

    assert hops(topology, "a0", "a1", "a2")[0] == [0, 2, 3]
    assert np.isnan(hops(topology, "a0", "b0")[0][1])
    assert "some host has no path to" in topology.problems[0]


@pytest.mark.parametrize(
    ("kind", "change", "problem"),
    [
        ("topograph", lambda d: d["instances"][0].update(id=7), r"instances\[0\].id: expected a"),
        ("topograph", lambda d: d.pop("instances"), r"expected `instances` .*, or `switches`"),
        (
            "kubernetes",
            lambda d: [n["metadata"].update(labels={"a": "b"}) for n in d["items"]],
            r"no node has a label of a known topology, such as fabric.topograph.run/tier-0",
        ),
        (
            "kubernetes",
            lambda d: d["items"][1].update(kind="Pod"),
            r"items\[1\].kind: expected Node or Topology, got 'Pod'",
        ),
        ("oci", lambda d: d["a"].update(rdmaTopologyData=[]), r"a.rdmaTopologyData: expected an"),
        ("lldp", lambda d: d["n1"].update(lldp=[]), r"n1.lldp: expected an object, got \[\]"),
    ],
)  # fmt: skip
def test_a_wrong_part_is_named(
    kind: str, change: Callable[[Any], object], problem: str, tmp_path: Path
) -> None:
    document = json.loads((GOLDEN / SAMPLES[kind]).read_text())
    change(document)
    (tmp_path / "wrong.json").write_text(json.dumps(document))

    with pytest.raises(InputError, match=problem):
        import_topology(kind, Given(tmp_path / "wrong.json"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("NodeGuid2,PortNum2", "NodeGuidB,PortNum2", r":\d+: LINKS has no column NodeGuid2"),
        ("START_LINKS", "START_CABLES", r"holds no link; expected the tables NODES and LINKS"),
    ],
)
def test_tables_of_another_version_are_refused(
    old: str, new: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.db_csv"
    path.write_text((GOLDEN / SAMPLES["ibdiagnet"]).read_text().replace(old, new, 1))

    with pytest.raises(InputError, match=problem):
        import_topology("ibdiagnet", Given(path))
