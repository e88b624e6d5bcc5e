# SPDX-License-Identifier: Apache-2.0
"""Links of UFM's REST API, in the forms of several versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairlead.errors import InputError
from fairlead.measure.topologies.catalogue import Given, import_topology
from fairlead.model.topology import Topology

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle" / "ufm"
LINKS, SYSTEMS = GOLDEN / "links.json", GOLDEN / "systems.json"

HOPS = [[0, 2, 2, 4], [2, 0, 2, 4], [2, 2, 0, 2], [4, 4, 2, 0]]
"""n1 and n2 are on leaf1, n4 on leaf2, and n3 has an adapter on each; leaves are below a spine."""


def hops(topology: Topology, *hosts: str) -> list[list[float]]:
    at = topology.indices(hosts)
    counted: list[list[float]] = topology.known_hops()(*np.meshgrid(at, at, indexing="ij")).tolist()
    return counted


def of_version_6_11(link: dict[str, Any]) -> dict[str, Any]:
    """As UFM answered before it described nodes."""
    left_out = ("port_node_description", "port_name")
    kept = {key: value for key, value in link.items() if not key.endswith(left_out)}
    return {**kept, "width": "IB_4x"}


def written(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    path = folder / "links.json"
    path.write_text(json.dumps([change(link) for link in json.loads(LINKS.read_text())]))
    return path


def is_fabric(topology: Topology) -> bool:
    """Whether it is that of the sample."""
    return (
        topology.hosts == ("n1", "n2", "n3", "n4")
        and hops(topology, *topology.hosts) == HOPS
        and list(topology.router_of_host) == ["leaf1", "leaf1", "leaf1", "leaf2"]
        # Ports are called as counters call them: by the GUID of the adapter, not of its host.
        and "b8599f0300000031:1" in topology.links.out_ports
    )


def test_hosts_and_switches_are_known_by_their_ports() -> None:
    assert is_fabric(import_topology("ufm", Given(LINKS)))


def test_links_of_an_older_version_need_the_systems(tmp_path: Path) -> None:
    path = written(tmp_path, of_version_6_11)

    assert is_fabric(import_topology("ufm", Given(path, SYSTEMS)))

    without = import_topology("ufm", Given(path))
    assert without.num_hosts == 4
    assert any("not by a host" in problem for problem in without.problems)


def test_a_cable_that_is_listed_from_both_ends_is_one(tmp_path: Path) -> None:
    links = json.loads(LINKS.read_text())
    turned = [
        {
            key.replace("source", "?")
            .replace("destination", "source")
            .replace("?", "destination"): value
            for key, value in link.items()
        }
        for link in links
    ]
    path = tmp_path / "links.json"
    path.write_text(json.dumps(links + turned))

    topology = import_topology("ufm", Given(path))

    assert topology.links.num_links == 2 * len(links)


def test_a_link_without_a_port_is_passed_over_and_named(tmp_path: Path) -> None:
    path = written(
        tmp_path, lambda link: {**link, "source_port": "?"} if "n4" in json.dumps(link) else link
    )

    topology = import_topology("ufm", Given(path))

    assert topology.hosts == ("n1", "n2", "n3")
    assert topology.problems[0].startswith("1 links were passed over, the first is [4]: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"error": "no such resource"}', ": the document: expected a list, got an object"),
        ("[]", ": holds no link; expected what GET /ufmRest/resources/links answers"),
        ("[7]", ": [0]: expected an object, got 7"),
        ('[{"source_guid": "x"}]', ": holds no link; expected what GET /ufmRest/resources/links"),
    ],
)
def test_an_answer_of_something_else_is_one_line(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "links.json"
    path.write_text(text)

    with pytest.raises(InputError) as caught:
        import_topology("ufm", Given(path))

    assert str(caught.value).startswith(f"{path}{problem}")
    assert "\n" not in str(caught.value)


def test_systems_of_another_form_are_named(tmp_path: Path) -> None:
    path = tmp_path / "systems.json"
    path.write_text('[{"type": "switch"}]')

    with pytest.raises(InputError, match=r"systems\.json: \[0\]\.system_name: expected a name"):
        import_topology("ufm", Given(LINKS, path))
