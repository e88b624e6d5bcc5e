# SPDX-License-Identifier: Apache-2.0
"""Topologies of hwloc are read as levels of CPUs; broken ones are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from synthetic_hosts import ONE_SOCKET, TWO_SOCKETS, synthetic_inside, synthetic_xml

import fairlead as fl
from fairlead.errors import InputError
from fairlead.model.cpu_lists import cpus_of_list, list_of_cpus
from fairlead.model.cpu_topology import read_cpu_topology
from fairlead.model.host_inside import HostInside


@pytest.mark.parametrize(
    ("description", "levels"),
    [
        (TWO_SOCKETS, {"L3": 4, "socket": 2}),
        (ONE_SOCKET, {}),
        ("pack:2 [numa] l3:4 core:8 pu:1", {"L3": 8, "socket": 2}),
        ("pack:2 numa:2 l3:4 core:8 pu:1", {"L3": 16, "NUMA": 4, "socket": 2}),
        ("pack:2 l3:1 [numa] core:4 pu:2", {"socket": 2}),
    ],
)
def test_levels_are_those_on_which_cpus_differ(description: str, levels: dict[str, int]) -> None:
    topology = read_cpu_topology(synthetic_xml(description))

    assert {level.name: len(level.groups) for level in topology.levels} == levels
    assert topology.level_names == (*levels, "host")


def test_common_level_of_cpus_is_the_lowest_that_holds_all() -> None:
    topology = read_cpu_topology(synthetic_xml(TWO_SOCKETS))

    names = [topology.level_names[topology.common_level(frozenset(cpus))] for cpus in
             ({0, 15}, {0, 16}, {0, 32}, set(range(32)))]  # fmt: skip

    assert names == ["L3", "socket", "host", "socket"]


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        ("<topology", "broken XML"),
        (synthetic_xml(ONE_SOCKET)[:-200], "broken XML"),
        ("<topology version='1.0'/>", "XML of hwloc 2"),
        ("<topology version='2.0'/>", "type Machine"),
        (synthetic_xml(ONE_SOCKET).replace("0x000000ff", "0xf...f"), "no set of CPUs"),
        (synthetic_xml(ONE_SOCKET).replace('"Core"', '"Misc"').replace('"PU"', '"Misc"'), "core"),
    ],
)
def test_broken_topologies_are_refused(xml: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_cpu_topology(xml)


def test_lists_of_cpus_are_read_as_they_are_written() -> None:
    assert list_of_cpus({9, 0, 1, 2, 8}) == "0-2,8-9"
    assert cpus_of_list("0-2,8-9") == {0, 1, 2, 8, 9}
    for bad in ("3-1", "a", "1,,2", "-1", "99999"):
        with pytest.raises(InputError, match="expected a list"):
            cpus_of_list(bad)


def test_file_of_a_network_keeps_the_inside_of_its_hosts(tmp_path: Path) -> None:
    insides = {"a": synthetic_inside(TWO_SOCKETS), "c": HostInside(problem="no hwloc")}
    even = np.ones((3, 3))
    network = fl.Network(("a", "b", "c"), even, even, insides=insides)
    network.save(tmp_path / "n.net.npz")

    found = fl.Network.load(tmp_path / "n.net.npz")

    assert found.insides == insides
    assert found.select(("c", "b")).insides == {"c": insides["c"]}


def test_inside_that_does_not_fit_its_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "n.net.npz"
    fl.Network(
        ("a",), np.zeros((1, 1)), np.ones((1, 1)), insides={"a": synthetic_inside(ONE_SOCKET)}
    ).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["inside_xml_bytes"] = arrays["inside_xml_bytes"] + 1
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="inside_xml_bytes: does not add up"):
        fl.Network.load(path)
