# SPDX-License-Identifier: Apache-2.0
"""A host of which an importer knows nothing is never nearer than a known one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from torus_files import host, interconnect

import fairlead as fl
from fairlead.errors import InputError
from fairlead.measure.network_sources import Measuring, network_from, network_source
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.topology import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"


def imported(folder: Path, kind: str, text: str) -> Topology:
    (folder / "given.txt").write_text(text)
    return import_topology(kind, Given(folder / "given.txt"))


def hops(topology: Topology) -> dict[frozenset[str], float]:
    """Links between each two hosts."""
    src, dst = np.triu_indices(topology.num_hosts, 1)
    count = topology.hops()(src, dst)
    return {
        frozenset((topology.hosts[i], topology.hosts[j])): float(value)
        for i, j, value in zip(src, dst, count, strict=True)
    }


def network(folder: Path, topology: Topology) -> Network:
    topology.save(folder / "given.topo.npz")
    source = network_source(f"{folder}/given.topo.npz", Measuring(lambda: pytest.fail("probed")))
    found = network_from(source, Cluster.uniform(topology.hosts, 1))
    assert isinstance(found, Network)
    return found


def aws(**nodes: list[str] | None) -> str:
    return json.dumps(
        {"Instances": [{"InstanceId": name, "NetworkNodes": at} for name, at in nodes.items()]}
    )


def gcp(**places: dict[str, str]) -> str:
    return json.dumps(
        [
            {"name": name, "resourceStatus": {"physicalHostTopology": place}}
            for name, place in places.items()
        ]
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("aws", aws(a=["t", "m", "b1"], b=["t", "m", "b2"], u=[], v=None)),
        (
            "gcp",
            gcp(
                a={"cluster": "c", "block": "b", "subblock": "s", "host": "h1"},
                b={"cluster": "c", "block": "b", "subblock": "s", "host": "h2"},
                u={}, v={"cluster": ""},
            ),
        ),
        (
            "oci",
            json.dumps(
                {
                    "a": {"customerHPCIslandId": "i", "customerNetworkBlock": "n",
                          "customerLocalBlock": "l"},
                    "b": {"customerHPCIslandId": "i", "customerNetworkBlock": "n",
                          "customerLocalBlock": "m"},
                    "u": {}, "v": {"customerHPCIslandId": None},
                }
            ),
        ),
    ],
)  # fmt: skip
def test_unknown_hosts_are_as_far_as_the_farthest(tmp_path: Path, kind: str, text: str) -> None:
    topology = imported(tmp_path, kind, text)

    found = hops(topology)

    known = found.pop(frozenset("ab"))
    assert set(found.values()) == {max(found.values())} and max(found.values()) > known
    assert topology.problems[-1].startswith("nothing is known of where u and 1 more is: ")


def test_missing_lower_levels_count_as_different(tmp_path: Path) -> None:
    # x and y are known to share a block, c and d to share a host of it.
    full = {"cluster": "c", "block": "b", "subblock": "s", "host": "h"}
    half = {"cluster": "c", "block": "b"}
    topology = imported(tmp_path, "gcp", gcp(c=full, d=full, x=half, y=half))

    found = hops(topology)

    assert found[frozenset("cd")] == 2
    assert found[frozenset("xy")] == found[frozenset("cx")] == 6
    assert topology.problems[-1].startswith("not all 4 levels are known of where x and 1 more is")


def test_instances_with_fewer_network_nodes_are_no_nearer(tmp_path: Path) -> None:
    four = ["t", "m", "n", "b"]
    topology = imported(tmp_path, "aws", aws(a=four, b=four, x=four[:3], y=four[:3]))

    found = hops(topology)

    assert found[frozenset("ab")] == 2 and found[frozenset("xy")] == 4


def test_heaviest_pair_is_not_placed_on_unknown_hosts(tmp_path: Path) -> None:
    text = aws(u=[], v=[], a=["t", "m", "b"], b=["t", "m", "b"])
    given = network(tmp_path, imported(tmp_path, "aws", text))
    sent = np.zeros((4, 4))
    sent[0, 1] = sent[1, 0] = 1e9
    traffic = fl.Traffic(sent, (sent > 0) * 1.0)

    placement = fl.place(traffic, given, Cluster.uniform(given.hosts, 1), "optimize", seed=0)

    assert {given.hosts[placement.host_of_rank[rank]] for rank in (0, 1)} == {"a", "b"}


def test_route_through_a_missing_router_counts_as_the_longest(tmp_path: Path) -> None:
    # One router of a line of four is missing: its neighbours reach one another by an unknown way.
    lines = [line for line in interconnect(6, 1, 1).splitlines() if "(1,0,0)" not in line]
    given = network(tmp_path, imported(tmp_path, "gemini", "\n".join(lines)))

    at = {name: index for index, name in enumerate(given.hosts)}
    first, second, third, fourth = (at[host(x, 0, 0)] for x in (0, 2, 3, 4))
    assert given.bandwidth_Bps[first, second] <= np.nanmin(given.bandwidth_Bps[second, fourth])
    assert given.latency_s[first, second] == given.latency_s.max()
    assert given.latency_s[second, third] < given.latency_s.max()


def test_hosts_behind_an_undescribed_switch_are_far_not_refused(tmp_path: Path) -> None:
    text = (GOLDEN / "infiniband" / "ibnetdiscover.txt").read_text()
    begin = text.index("vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x2001")  # the spine
    end = text.index("vendid=0x2c9\ndevid=0x101b\nsysimgguid=0xa01")
    given = network(tmp_path, imported(tmp_path, "infiniband", text[:begin] + text[end:]))

    assert given.hosts == ("node001", "node002", "node003")
    assert given.latency_s[0, 2] == given.latency_s.max()
    assert given.bandwidth_Bps[0, 2] <= given.bandwidth_Bps[0, 1]


def test_link_of_unknown_bandwidth_is_no_faster_than_the_slowest() -> None:
    from fairlead.measure.oracle import cost_network

    hop = np.array([[0.0, 2, 2], [2, 0, 2], [2, 2, 0]])
    capacity = np.array([[np.nan, 1e9, np.nan], [1e9, np.nan, 5e9], [np.nan, 5e9, np.nan]])

    found = cost_network(["a", "b", "c"], "bw", hop * 0, hop, capacity)

    assert found.bandwidth_Bps[0, 2] == 1e9


def machines(kind: str, *named: tuple[str, list[str]]) -> str:
    """Machines of these names, which may come again, below cluster, block and subblock."""
    if kind == "aws":
        listed = [{"InstanceId": name, "NetworkNodes": place} for name, place in named]
        return json.dumps({"Instances": listed})
    levels = ("cluster", "block", "subblock", "host")
    places = [dict(zip(levels, [*place, name], strict=True)) for name, place in named]
    return json.dumps(
        [
            {"name": name, "resourceStatus": {"physicalHostTopology": place}}
            for (name, _), place in zip(named, places, strict=True)
        ]
    )


@pytest.mark.parametrize("kind", ["aws", "gcp"])
def test_a_name_in_two_places_is_in_none(tmp_path: Path, kind: str) -> None:
    # Instances of two zones of a project of Google's may have one name.
    near, far = ["t", "m", "b"], ["t", "n", "c"]
    text = machines(kind, *((name, near) for name in "abw"), ("w", far), ("w", near), ("b", near))
    topology = imported(tmp_path, kind, text)

    found = hops(topology)

    assert topology.hosts == ("a", "b", "w")
    assert found[frozenset("aw")] == found[frozenset("bw")] > found[frozenset("ab")]
    assert topology.problems[0] == "w is listed in two places: which of them holds is unknown"


def labelled(**labels_of: dict[str, str]) -> str:
    """A list of Kubernetes' nodes, as the API itself gives it: its items have no kind."""
    items = [
        {"metadata": {"name": name, "labels": labels}, "spec": {}}
        for name, labels in labels_of.items()
    ]
    return json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": items})


@pytest.mark.parametrize("owner", ["nvidia.com", "kubernetes.io"])
def test_blocks_below_one_spine_are_apart(tmp_path: Path, owner: str) -> None:
    # Labels of earlier topographs: by their spine alone, all three would be neighbours.
    def place(block: str) -> dict[str, str]:
        levels = {"block": block, "spine": "s", "datacenter": "d"}
        return {f"network.topology.{owner}/{level}": name for level, name in levels.items()}

    found = hops(
        imported(tmp_path, "kubernetes", labelled(a=place("1"), b=place("1"), c=place("2")))
    )

    assert found == {frozenset("ab"): 2, frozenset("ac"): 4, frozenset("bc"): 4}


def test_nodes_of_one_spine_are_no_nearer_than_those_of_one_leaf(tmp_path: Path) -> None:
    key = "network.topology.nvidia.com/"
    leaf, spine = {f"{key}leaf": "l"}, {f"{key}spine": "s"}
    both = {f"{key}leaf": "m", f"{key}spine": "t"}
    text = labelled(a=leaf, b=leaf, c=spine, d=spine, e=both, f=both)
    topology = imported(tmp_path, "kubernetes", text)

    found = hops(topology)

    pairs = {pair: found[frozenset(pair)] for pair in ("ab", "cd", "ef", "ac", "ae", "ce")}
    assert pairs == {"ab": 2, "cd": 4, "ef": 2, "ac": 6, "ae": 6, "ce": 6}
    assert topology.problems[-1].startswith(f"a and 1 more: no label {key}spine")


def test_documents_of_one_yaml_are_one_list(tmp_path: Path) -> None:
    # What two calls of kubectl printed, of Kueue's topologies and of nodes, and one node more.
    text = "kind: Topology\nspec: {levels: [{nodeLabel: x/block}, {nodeLabel: x/rack}]}\n---\n"
    text += "kind: List\nitems:\n"
    for name, rack in (("a", "1"), ("b", "2")):
        labels = f"{{x/block: k, x/rack: {rack}}}"
        text += f"- {{kind: Node, metadata: {{name: {name}, labels: {labels}}}}}\n"
    text += "---\nkind: Node\nmetadata: {name: c, labels: {x/block: k, x/rack: 2}}\n---\n"

    found = hops(imported(tmp_path, "kubernetes", text))

    assert found == {frozenset("ab"): 4, frozenset("ac"): 4, frozenset("bc"): 2}


def test_level_that_no_node_has_is_none(tmp_path: Path) -> None:
    def place(leaf: str) -> dict[str, str]:
        return {f"network.topology.nvidia.com/{key}": leaf for key in ("core", "leaf")}

    topology = imported(tmp_path, "kubernetes", labelled(a=place("1"), b=place("1"), c=place("2")))

    assert hops(topology)[frozenset("ab")] == 2
    assert topology.problems == ()


def test_topology_of_hostnames_alone_says_nothing(tmp_path: Path) -> None:
    level = {"nodeLabel": "kubernetes.io/hostname"}
    document = json.loads(labelled(a={"kubernetes.io/hostname": "a"}))
    document["items"].append({"kind": "Topology", "spec": {"levels": [level]}})

    with pytest.raises(InputError, match="no node has a label of a known topology"):
        imported(tmp_path, "kubernetes", json.dumps(document))


def test_upper_layers_are_those_of_others_on_the_switch(tmp_path: Path) -> None:
    layers = {"a": ["l1", "s1", "c"], "b": ["l2", "s1"], "c": ["l3", "s2", "c"], "d": ["l1"]}
    instances = [{"id": name, "network_layers": above} for name, above in layers.items()]

    topology = imported(tmp_path, "topograph", json.dumps({"instances": instances}))

    found = hops(topology)
    assert (found[frozenset("ad")], found[frozenset("ab")], found[frozenset("bc")]) == (2, 4, 6)
    assert topology.problems == ()


def by_lldp(switches_of: dict[str, list[str]]) -> str:
    """What lldpctl printed on hosts with a cable to each of their switches."""
    return json.dumps(
        {
            host: {
                "lldp": {
                    "interface": [
                        {
                            f"eth{index}": {
                                "chassis": {switch: {"id": {"type": "mac", "value": switch}}},
                                "port": {"id": {"type": "ifname", "value": f"swp-{host}"}},
                            }
                        }
                        for index, switch in enumerate(switches)
                    ]
                }
            }
            for host, switches in switches_of.items()
        }
    )


def test_rails_that_nothing_joins_leave_no_host_without_a_path(tmp_path: Path) -> None:
    topology = imported(tmp_path, "lldp", by_lldp({host: ["rail0", "rail1"] for host in "abcd"}))

    assert set(hops(topology).values()) == {2}
    assert topology.problems == (
        "a and 3 more have several adapters: pairs of hosts take those that are fewest links "
        "apart, in turn",
    )


def test_physical_hosts_of_googles_older_documents_are_places(tmp_path: Path) -> None:
    # Compute Engine's reference: "formatted as follows: blockId/subBlockId/hostId".
    at = {"a": "/b1/s1/h1", "b": "/b1/s1/h2", "c": "/b1/s2/h3", "d": "/b2/s1/h1", "u": None}
    machines = [
        {"name": name, "resourceStatus": {"physicalHost": place}} for name, place in at.items()
    ]

    found = hops(imported(tmp_path, "gcp", json.dumps(machines)))

    near = {name: found[frozenset(f"a{name}")] for name in "bcdu"}
    assert near == {"b": 4, "c": 6, "d": 8, "u": 8}


def test_fault_domains_of_azure_are_numbers_too(tmp_path: Path) -> None:
    def compute(domain: int | str) -> dict[str, object]:
        return {"location": "w", "placementGroupId": "p", "platformFaultDomain": domain}

    text = json.dumps({"a": compute(0), "b": compute("0"), "c": compute(1)})
    topology = imported(tmp_path, "azure", text)

    found = hops(topology)
    assert (found[frozenset("ab")], found[frozenset("ac")]) == (2, 4)
    assert topology.problems == ()
