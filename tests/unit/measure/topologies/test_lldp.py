# SPDX-License-Identifier: Apache-2.0
"""Ethernet by LLDP: which system is which, and which interfaces are the network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle" / "lldp"


def hops(topology: Topology, *hosts: str) -> list[list[float]]:
    at = topology.indices(hosts)
    counted: list[list[float]] = topology.known_hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


def test_lldp_finds_switches_rails_and_the_names_of_interfaces() -> None:
    topology = import_topology("lldp", Given(GOLDEN / "lldpctl.json"))

    assert topology.hosts == ("n1", "n2", "n4", "n3")
    # n3 has an interface on each leaf.
    assert hops(topology, "n1", "n2", "n3", "n4") == [
        [0, 2, 2, 4],
        [2, 0, 2, 4],
        [2, 2, 0, 2],
        [4, 4, 2, 0],
    ]
    assert {"interface leaf1 swp49", "interface spine1 swp2", "host n3"} <= set(
        topology.links.out_ports
    )
    assert list(topology.problems) == [
        "idle: has no neighbour, and was left out",
        "n3 has several adapters: pairs of hosts take those that are fewest links apart, in turn",
    ]


def test_hosts_of_lldp_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("n1\nn2 # compute\n")

    topology = import_topology("lldp", Given(GOLDEN / "lldpctl.json", tmp_path / "hosts"))

    assert topology.hosts == ("n1", "n2")
    (tmp_path / "hosts").write_text("n7\n")
    with pytest.raises(InputError, match=r"hosts: host 'n7' is not in .*lldpctl.json"):
        import_topology("lldp", Given(GOLDEN / "lldpctl.json", tmp_path / "hosts"))


def with_domain(document: Any, domain: str) -> Any:
    """The same where each system reports itself with a domain, as many do."""
    for content in document.values():
        interfaces = content["lldp"].get("interface") or []
        for entry in interfaces if isinstance(interfaces, list) else [interfaces]:
            for neighbour in entry.values():
                (name, facts) = next(iter(neighbour["chassis"].items()))
                if name != "id":
                    neighbour["chassis"] = {f"{name}{domain}": facts}
    return document


def test_systems_of_lldp_are_the_same_with_their_domain(tmp_path: Path) -> None:
    plain = import_topology("lldp", Given(GOLDEN / "lldpctl.json"))
    document = json.loads((GOLDEN / "lldpctl.json").read_text())
    (tmp_path / "l.json").write_text(json.dumps(with_domain(document, ".Dc1.example.com")))

    topology = import_topology("lldp", Given(tmp_path / "l.json"))

    assert topology.hosts == plain.hosts
    # A switch that is in no list is called as it calls itself.
    assert {port.replace(".Dc1.example.com", "") for port in topology.links.out_ports} == set(
        plain.links.out_ports
    )
    assert topology.links.num_links == plain.links.num_links
    assert hops(topology, *plain.hosts) == hops(plain, *plain.hosts)


def test_switches_of_lldp_are_also_known_by_their_management_address(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "lldpctl.json").read_text())
    chassis = document["n1"]["lldp"]["interface"]["eth0"]["chassis"]["leaf1"]
    chassis["mgmt-ip"] = ["192.0.2.99", "FD00:0::1", "fe80::1", "127.0.0.1", "none"]
    (tmp_path / "l.json").write_text(json.dumps(document))

    aliases = import_topology("lldp", Given(tmp_path / "l.json")).port_aliases

    assert aliases["interface 192.0.2.99 swp49"] == "interface leaf1 swp49"
    assert aliases["interface fd00::1 swp1"] == "interface leaf1 swp1"
    assert not any("fe80" in name or "127" in name or "none" in name for name in aliases)


def test_an_address_of_several_switches_is_of_none() -> None:
    assert '"mgmt-ip": "192.0.2.11"' in (GOLDEN / "lldpctl.json").read_text()

    assert import_topology("lldp", Given(GOLDEN / "lldpctl.json")).port_aliases == {}


def test_a_switch_that_joins_all_hosts_is_named(tmp_path: Path) -> None:
    def at(switch: str, port: str) -> dict[str, Any]:
        chassis = {switch: {"id": {"type": "mac", "value": "0"}}}
        return {"chassis": chassis, "port": {"id": {"type": "ifname", "value": port}}}

    def problems(switches_of: dict[str, list[str]]) -> list[str]:
        document = {
            host: {"lldp": {"interface": [{f"eth{n}": at(s, host)} for n, s in enumerate(some)]}}
            for host, some in switches_of.items()
        }
        (tmp_path / "l.json").write_text(json.dumps(document))
        topology = import_topology("lldp", Given(tmp_path / "l.json"))
        return [line for line in topology.problems if "joins all hosts" in line]

    managed = {"n1": ["mgmt", "leaf1"], "n2": ["mgmt", "leaf1"], "n3": ["mgmt", "leaf2"]}
    (line,) = problems(managed)
    assert line.startswith("mgmt joins all hosts, so all are equally near")
    # One switch alone, or two rails that both join all, are no management network.
    assert problems({"n1": ["leaf1"], "n2": ["leaf1"]}) == []
    assert problems({"n1": ["rail1", "rail2"], "n2": ["rail1", "rail2"]}) == []


def test_systems_of_two_domains_stay_apart(tmp_path: Path) -> None:
    def at(switch: str, port: str) -> dict[str, Any]:
        chassis = {switch: {"id": {"type": "mac", "value": "0"}}}
        interface = {"chassis": chassis, "port": {"id": {"type": "ifname", "value": port}}}
        return {"lldp": {"interface": {"eth0": interface}}}

    document = {
        "n1": at("leaf.a.org", "swp1"), "n2": at("leaf.a.org", "swp2"),
        "n3": at("leaf.b.org", "swp1"), "n4": at("leaf.b.org", "swp2"),
        "leaf.b.org": {"lldp": {}},
    }  # fmt: skip
    (tmp_path / "l.json").write_text(json.dumps(document))

    (tmp_path / "hosts").write_text("n1\nn2\nn3\nn4\n")

    topology = import_topology("lldp", Given(tmp_path / "l.json", tmp_path / "hosts"))

    assert "interface leaf.a.org swp1" in topology.links.out_ports
    assert topology.links.num_links == 8


def test_leaves_whose_cables_nobody_reports_are_named(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "lldpctl.json").read_text())
    only = {name: document[name] for name in ("n1", "n2", "n4")}
    (tmp_path / "l.json").write_text(json.dumps(only))

    topology = import_topology("lldp", Given(tmp_path / "l.json"))

    assert hops(topology, "n1", "n2", "n4")[0][:2] == [0, 2]
    assert np.isnan(hops(topology, "n1", "n4")[0][1])
    assert "some host has no path to" in topology.problems[0]
