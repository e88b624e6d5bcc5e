# SPDX-License-Identifier: Apache-2.0
"""What the probe reports of the inside of hosts is read, and what is not known is named."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
from synthetic_hosts import ONE_SOCKET, TWO_SOCKETS, synthetic_xml

import fairlead as fl
from fairlead.act.launch import Finished
from fairlead.errors import Error, LaunchError
from fairlead.measure.host_insides import measure_rates, pairs_of_levels, read_insides
from fairlead.model.cpu_topology import read_cpu_topology
from fairlead.model.host_inside import HostInside, LevelRate

HOSTS = ("a", "b")


def document(*hosts: Any) -> str:
    return "noise\n" + json.dumps({"format": "fairlead-inside", "version": 1, "hosts": hosts})


def reported(xml: str, **other: Any) -> dict[str, Any]:
    usual = {"node": "a", "cpus": [*range(8)], "xml": xml, "is_own": True, "problem": ""}
    return {**usual, **other}


def test_topologies_and_allowed_cpus_are_read() -> None:
    xml = synthetic_xml(ONE_SOCKET)

    found = read_insides(document(reported(xml), reported(xml, cpus=[1, 2, 5])), HOSTS)

    assert found == {"a": HostInside(xml, "0-7"), "b": HostInside(xml, "1-2,5")}


NAMED = '<info name="HostName" value="other"/><object type="Package"'


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (None, "did not report"),
        (reported("", problem="libhwloc.so.15 is not installed"), "not installed"),
        (reported("<topology"), "broken XML"),
        (reported(synthetic_xml(ONE_SOCKET), is_own=False), "another machine than a"),
        (
            reported(synthetic_xml(ONE_SOCKET).replace('<object type="Package"', NAMED, 1)),
            "another machine than a",
        ),
    ],
)
def test_unknown_inside_of_a_host_is_named(report: Any, problem: str) -> None:
    good = reported(synthetic_xml(ONE_SOCKET))

    found = read_insides(document(report, good), HOSTS)

    assert problem in found["a"].problem
    assert not found["a"].xml
    assert found["b"].xml


@pytest.mark.parametrize("printed", ["", document(None), document({"node": 1}, None)])
def test_probe_without_a_whole_report_leaves_all_unknown(printed: str) -> None:
    found = read_insides(printed, HOSTS)
    assert all(inside.problem and not inside.xml for inside in found.values())


def test_pairs_of_levels_are_cores_that_may_be_used() -> None:
    topology = read_cpu_topology(synthetic_xml(TWO_SOCKETS))
    assert pairs_of_levels(topology, topology.cpus) == {
        "L3": (0, 1),
        "socket": (0, 16),
        "host": (0, 32),
    }
    assert pairs_of_levels(topology, frozenset({3, 40})) == {"host": (3, 40)}
    assert pairs_of_levels(topology, frozenset({3})) == {}


class Program:
    """The measuring program, which answers with given times."""

    def __init__(self, *hosts: Any) -> None:
        self.orders: list[Any] = []
        self._printed = document(*hosts)

    def order(self, _cluster: object, options: Any, **_: object) -> Finished:
        self.orders.append(options)
        return dataclasses.replace(
            Finished(returncode=0, seconds=0.1, stdout="", stderr=""), stdout=self._printed
        )


def test_each_host_measures_its_own_levels_and_what_fails_stays_unknown() -> None:
    insides = {
        "a": HostInside(synthetic_xml(TWO_SOCKETS), "0-63"),
        "b": HostInside(synthetic_xml(ONE_SOCKET), "0-7"),
    }
    times = {"pairs": [[1e-7, 2e10], [2e-7, None], [4e-7, 5e9]], "memory": [1e11, None]}
    program = Program(times, {"pairs": [], "memory": []})

    found = measure_rates(program, fl.Cluster.uniform(HOSTS, 1), insides)  # type: ignore[arg-type]

    (order,) = program.orders
    of_a, of_b = order["inside"]["hosts"]
    assert of_a["pairs"] == [[0, 1], [0, 16], [0, 32]]
    assert of_a["memory"][1] == [32, 36, 40, 45, 49, 54, 58, 63]
    assert of_b == {"pairs": [], "memory": []}
    assert order["inside"]["read_bytes"] == 32 << 20
    assert found["a"].rates == {"L3": LevelRate(1e-7, 2e10), "host": LevelRate(4e-7, 5e9)}
    assert found["a"].memory_Bps[0] == 1e11
    assert math.isnan(found["a"].memory_Bps[1])
    assert found["b"] == insides["b"]


class Failing(Program):
    """One that fails, or prints nothing."""

    def __init__(self, error: Error | None, stderr: str = "") -> None:
        super().__init__()
        self._error, self._stderr = error, stderr

    def order(self, *_: object, **__: object) -> Finished:
        if self._error is not None:
            raise self._error
        return Finished(returncode=1, seconds=0.1, stdout="", stderr=self._stderr)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (Failing(LaunchError("mpirun did not end within 60 s")), "did not end within 60 s"),
        (Failing(None, "fairlead-probe: error no memory\n"), "no memory"),
        (Program({"pairs": 3, "memory": []}, None), "hosts"),
        (Program(None, None), "the probe did not report it"),
    ],
)
def test_where_levels_cannot_be_measured_the_reason_is_kept(program: Program, why: str) -> None:
    insides = {
        "a": HostInside(synthetic_xml(TWO_SOCKETS), "0-63"),
        "b": HostInside(synthetic_xml(ONE_SOCKET), "0-7"),
    }

    found = measure_rates(program, fl.Cluster.uniform(HOSTS, 1), insides)  # type: ignore[arg-type]

    assert why in found["a"].problem
    assert (found["a"].xml, found["a"].rates) == (insides["a"].xml, {})
    assert found["b"] == insides["b"]


def test_hosts_with_one_level_measure_nothing() -> None:
    insides = dict.fromkeys(HOSTS, HostInside(synthetic_xml(ONE_SOCKET), "0-7"))
    program = Program()
    cluster = fl.Cluster.uniform(HOSTS, 1)
    assert measure_rates(program, cluster, insides) == insides  # type: ignore[arg-type]
    assert program.orders == []
