# SPDX-License-Identifier: Apache-2.0
"""Large files of every form of topology: read or refused in a line, within bounded memory."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from large_files import MIB, Large, read_large

from fairlead.measure.topologies.catalogue import IMPORTS


def headings() -> Iterator[str]:
    return itertools.repeat("# nothing that is read\nwarning: what is this\n" * 1000)


def fabric() -> Iterator[str]:
    for leaf in itertools.count(1):
        adapters = range(leaf * 64, leaf * 64 + 40)
        yield f'Switch\t41 "S-{leaf:016x}"\t# "leaf{leaf}" port 0 lid {leaf} lmc 0\n'
        for port, adapter in enumerate(adapters, 1):
            yield f'[{port}]\t"H-{adapter:016x}"[1]\t# "n{adapter}" lid 9 4xHDR\n'
        for port, adapter in enumerate(adapters, 1):
            yield f'Ca\t1 "H-{adapter:016x}"\t# "n{adapter} mlx5_0"\n'
            yield f'[1]\t"S-{leaf:016x}"[{port}]\t# lid 9 lmc 0 "leaf{leaf}" lid 1 4xHDR\n'


def rows_of_nodes() -> Iterator[str]:
    return (f'"n{node} mlx5_0",1,{node:#x},{node:#x}\n' for node in itertools.count(1))


def switches() -> Iterator[str]:
    return (f"SwitchName=s{i} Nodes=n[{20 * i}-{20 * i + 19}]\n" for i in itertools.count())


def one_line() -> Iterator[str]:
    return itertools.repeat("Nodes=n[1-2]," * 1000)


def yaml_switches() -> Iterator[str]:
    return (f"  - switch: s{i}\n    nodes: n{i}\n" for i in itertools.count())


def kubernetes_nodes() -> Iterator[str]:
    images = [{"names": [f"registry/image-{each}@sha256:{'0' * 64}"]} for each in range(50)]
    for index in itertools.count():
        labels = {"network.topology.nvidia.com/leaf": f"leaf{index // 16}"}
        node = {"kind": "Node", "metadata": {"name": f"n{index}", "labels": labels}}
        yield ("," if index else "") + json.dumps({**node, "status": {"images": images}})


def lldp_systems() -> Iterator[str]:
    for index in itertools.count():
        chassis = {f"leaf{index // 40}": {"descr": "a description of the system " * 40}}
        port = {"id": {"type": "ifname", "value": f"swp{index % 40}"}}
        lldp = {"interface": {"eth0": {"chassis": chassis, "port": port}}}
        yield f'{"," if index else ""}"n{index}": {json.dumps({"lldp": lldp})}'


def metadata_of_hosts() -> Iterator[str]:
    for index in itertools.count():
        place = {"customerHPCIslandId": "a", "customerNetworkBlock": f"b{index // 64}"}
        document = {"rdmaTopologyData": place, "further": "x" * 2000}
        yield f'{"," if index else ""}"n{index}": {json.dumps(document)}'


def gemini_tiles() -> Iterator[str]:
    for x in itertools.cycle(range(16)):
        near, far = (f"c{at}-0c0s0g0l{{tile}}[({at},0,0)]" for at in (x, (x + 1) % 16))
        for tile in ("00", "01", "02", "03"):
            ends = near.format(tile=tile), far.format(tile=tile)
            yield f"{ends[0]} X+ -> {ends[1]} LinkType: cable\n"


def ufm_links() -> Iterator[str]:
    for at in itertools.count():
        leaf, adapter = f"{1 + at // 40:016x}", f"{2**40 + at:016x}"
        link = {
            **{"source_guid": leaf, "source_port": str(1 + at % 40), "name": f"{leaf}_{at}"},
            **{"destination_guid": adapter, "destination_port": "1", "severity": "Info"},
            "source_port_node_description": f"leaf{at // 40}:1/{1 + at % 40}/1",
            "destination_port_node_description": f"n{at} mlx5_0",
            "capabilities": ["a further field " * 10] * 4,
        }
        yield ("," if at else "") + json.dumps(link)


COLUMNS = (
    "cable_id,src_conn_a,src_conn_b,dst_conn_a,dst_conn_b,stage,src_egress_a,src_egress_b,"
    "dst_egress_a,dst_egress_b,link_type,src_group,dst_group,part_number,part_length,"
    "calculated_distance,route\n"
)


def slingshot_cables() -> Iterator[str]:
    for at in itertools.count():
        switch, port = f"x{1000 + at // 4096}c{at // 512 % 8}r{at // 64 % 8}", at % 64
        host = f"x{1000 + at // 4096}c{at // 512 % 8}s{at // 64 % 8}b{at // 2 % 32}n{at % 2}h0"
        ends = f"{switch}j{100 + port},none,{host},none"
        yield f"l{at},{ends},1,none,none,none,none,edge,{at // 4096},none,none,none,none,none\n"


def topograph_instances() -> Iterator[str]:
    for at in itertools.count():
        labels = {f"a-label-{each}": "x" * 60 for each in range(20)}
        layers = [f"leaf{at // 16}", f"spine{at // 256}", "core"]
        instance = {"id": f"i-{at}", "network_layers": layers, "labels": labels}
        yield ("," if at else "") + json.dumps(instance)


def aws_instances() -> Iterator[str]:
    for at in itertools.count():
        nodes = [f"nn-{level}-{at // size:014x}" for level, size in enumerate((4096, 256, 16))]
        instance = {
            **{"InstanceId": f"i-{at:017x}", "InstanceType": "p5.48xlarge", "NetworkNodes": nodes},
            **{"AvailabilityZone": "us-east-1a", "GroupName": "g" * 255, "ZoneId": "use1-az1"},
        }
        yield ("," if at else "") + json.dumps(instance)


def gcp_instances() -> Iterator[str]:
    for at in itertools.count():
        place = {"cluster": "c", "block": f"b{at // 256}", "subblock": f"s{at // 16}"}
        place["host"] = f"h{at // 4}"
        instance = {
            **{"name": f"hpc-{at}", "resourceStatus": {"physicalHostTopology": place}},
            **{"metadata": {"items": [{"key": "startup-script", "value": "x" * 2000}]}},
        }
        yield ("," if at else "") + json.dumps(instance)


def azure_documents() -> Iterator[str]:
    for at in itertools.count():
        compute = {
            **{"name": f"hpc_{at}", "placementGroupId": f"group-{at // 100}", "location": "x"},
            **{"platformFaultDomain": str(at % 5), "userData": "x" * 2000},
        }
        yield f'{"," if at else ""}"n{at}": {json.dumps({"compute": compute})}'


HOSTS = r"\d{4,} hosts"
"""Thousands of them."""

LARGE = {
    "headings": Large("infiniband", "", headings, "", 8 * MIB, "holds no cable", 4 * MIB),
    "fabric": Large(
        "infiniband", "", fabric, "", 100 * MIB, "more than 65536 nodes, which no", 96 * MIB
    ),
    "tables": Large(
        *("ibdiagnet", "START_NODES\nNodeDesc,NodeType,SystemImageGUID,NodeGUID\n"),
        *(rows_of_nodes, "", 100 * MIB, "more than 65536 nodes, which no subnet", 64 * MIB),
    ),
    "switches": Large(
        "slurm", "", switches, "", 100 * MIB, ":131073: is after more than 131072", 96 * MIB
    ),
    "line": Large("slurm", "", one_line, "", 100 * MIB, ":1: is longer than 1048576 b", 16 * MIB),
    "yaml": Large(
        *("slurm", "- topology: t\n  tree:\n   switches:\n", yaml_switches, ""),
        *(100 * MIB, "is YAML of more than 4194304 letters", 64 * MIB),
    ),
    "nodes": Large(
        *("kubernetes", '{"kind": "List", "items": [', kubernetes_nodes, "]}"),
        *(32 * MIB, HOSTS, 64 * MIB),
    ),
    "systems": Large("lldp", "{", lldp_systems, "}", 24 * MIB, HOSTS, 192 * MIB),
    "metadata": Large("oci", "{", metadata_of_hosts, "}", 32 * MIB, HOSTS, 64 * MIB),
    "tiles": Large("gemini", "", gemini_tiles, "", 4 * MIB, "32 hosts", 4 * MIB),
    "links": Large(
        *("ufm", "[", ufm_links, "]", 100 * MIB, "more than 65536 nodes", 96 * MIB),
        distinct_bytes=64 * MIB,
    ),
    "cables": Large(
        "slingshot",
        COLUMNS,
        slingshot_cables,
        "",
        16 * MIB,
        "entries of forwarding tables",
        128 * MIB,
    ),
    "instances": Large(
        *("topograph", '{"instances": [', topograph_instances, "]}"),
        *(8 * MIB, HOSTS, 32 * MIB),
    ),
    "aws": Large("aws", '{"Instances": [', aws_instances, "]}", 8 * MIB, HOSTS, 128 * MIB),
    "gcp": Large("gcp", "[", gcp_instances, "]", 8 * MIB, HOSTS, 32 * MIB),
    "azure": Large("azure", "{", azure_documents, "}", 8 * MIB, HOSTS, 32 * MIB),
}


def test_every_kind_of_topology_has_a_large_file() -> None:
    assert {large.kind for large in LARGE.values()} == {*IMPORTS} - {"lab"}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    large = LARGE[name]
    found = read_large(large, tmp_path / "large")

    assert re.search(large.result, found.result), found
    assert "\n" not in found.result
    assert found.peak_bytes < large.most_bytes, found
