# SPDX-License-Identifier: Apache-2.0
"""What the measuring program prints is checked before it becomes a network."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from fairlead.errors import ProbeError
from fairlead.measure.probe_result import read_result
from fairlead.model.host_rates import host_speeds
from fairlead.model.network import Network
from fairlead.model.straggler_rule import stragglers
from fairlead.report.host_rates_view import host_rates_lines

PAIR = [0, 1, 1e-5, 0.9e-5, 1.1e-5, 6, 2e8, 1.9e8, 2.1e8, 7, 1e8, 0.9e8, 1.1e8, 8]


def document(**changes: Any) -> str:
    fields = {
        "format": "fairlead-probe",
        "version": 1,
        "mode": "quick",
        "round_trip_bytes": 1024,
        "message_bytes": 1024,
        "concurrency": 1,
        "num_rounds": 1,
        "probing_s": 0.5,
        "node_names": ["a", "b"],
        "pairs": [PAIR],
    }
    return json.dumps(fields | changes)


def test_directions_become_row_and_column() -> None:
    result = read_result(document(), 2)
    assert result is not None

    network = result.to_network(("a", "b"), ("a", "b"), {"how": "measured"})

    assert network.bandwidth_Bps.tolist() == [[np.inf, 2e8], [1e8, np.inf]]
    assert network.latency_s.tolist() == [[0, 1e-5], [1e-5, 0]]
    assert network.bandwidth_low_Bps is not None and network.bandwidth_low_Bps[1, 0] == 0.9e8
    assert network.latency_high_s is not None and network.latency_high_s[0, 1] == 1.1e-5
    assert network.samples is not None and network.samples.tolist() == [[0, 13], [14, 0]]


def test_hosts_that_did_not_measure_are_nan() -> None:
    result = read_result(document(), 2)
    assert result is not None

    network = result.to_network(("a", "gone", "b"), ("a", "b"), {})

    assert network.bandwidth_Bps[0, 2] == 2e8
    assert sorted(network.unmeasured_pairs()) == [
        ("a", "gone"), ("b", "gone"), ("gone", "a"), ("gone", "b"),
    ]  # fmt: skip


def test_null_is_unmeasured() -> None:
    half = [*PAIR[:6], None, None, None, 0, *PAIR[10:]]
    result = read_result(document(pairs=[half]), 2)
    assert result is not None
    assert result.to_network(("a", "b"), ("a", "b"), {}).unmeasured_pairs() == [("a", "b")]


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_reports_the_one_that_came_further_counts(order: int) -> None:
    nothing = [0, 1, None, None, None, 0, None, None, None, 0, None, None, None, 0]
    result = read_result(document(pairs=[PAIR, nothing][::order]), 2)
    assert result is not None
    assert result.to_network(("a", "b"), ("a", "b"), {}).unmeasured_pairs() == []


def test_lines_of_the_launcher_around_the_document_are_passed_over() -> None:
    assert read_result(f"Authorized users only\n{document()}\nlauncher: bye\n", 2) is not None


def test_the_beginning_of_a_document_is_no_result() -> None:
    whole = document()
    for length in range(len(whole)):
        assert read_result(whole[:length], 2) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": 2}, "version"),
        ({"mode": "other"}, "mode"),
        ({"probing_s": -1.0}, "probing_s"),
        ({"node_names": ["a", "b", "c"]}, "node_names"),
        ({"pairs": [PAIR[:-1]]}, "pairs"),
        ({"pairs": [[0, 2, *PAIR[2:]]]}, "pairs"),
        ({"pairs": [[1, 0, *PAIR[2:]]]}, "pairs"),
        ({"pairs": [[0, 1, -1e-5, *PAIR[3:]]]}, "pairs"),
        ({"pairs": [[*PAIR[:6], 0.0, *PAIR[7:]]]}, "pairs"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_impossible_documents_are_refused_by_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ProbeError, match=f"result of the probe: .*{field}"):
        read_result(document(**changes), 2)


def test_processes_that_are_each_alone_are_named_as_such() -> None:
    with pytest.raises(ProbeError, match="each process of the probe is alone"):
        read_result(document(node_names=["a"], pairs=[]), 2)


RATE = [2.0, 1.9, 2.1]
UNKNOWN = [None, None, None]
HOST = [4, RATE, RATE, RATE, RATE]


def network_of_hosts(*rows: Any) -> Network:
    result = read_result(document(hosts=rows), 2)
    assert result is not None
    return result.to_network(("a", "b"), ("a", "b"), {"how": "measured"})


def test_rates_of_hosts_come_with_their_numbers_of_cpus() -> None:
    rates = network_of_hosts(HOST, [2, RATE, RATE, UNKNOWN, UNKNOWN]).host_rates

    assert rates is not None
    assert rates.num_cores.tolist() == [4, 2]
    assert rates.values[0].tolist() == [RATE] * 4
    assert np.isnan(rates.values[1, 2:]).all()


def test_hosts_whose_memory_is_unknown_are_named() -> None:
    network = network_of_hosts(HOST, [2, RATE, RATE, UNKNOWN, UNKNOWN])

    (line,) = [line for line in host_rates_lines(network) if "unknown" in line]
    assert line.startswith("memory bandwidth of b is unknown: the kernel shows no caches there")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (None, "it did not report all passes"),
        ([4, RATE, RATE, RATE], "expected a number of cores and 4 rates, got [4, "),
        ([0, RATE, RATE, RATE, RATE], "num_cores: expected a whole number > 0, got 0"),
        ([4, *[UNKNOWN] * 4], "no rate could be measured"),
        ([4, RATE, UNKNOWN, RATE, RATE], "one_core_multiply_adds is known, "),
        ([4, RATE, RATE, UNKNOWN, RATE], "all_cores_memory_Bps is known, "),
        *[
            ([4, RATE, RATE, RATE, wrong], "all_cores_memory_Bps: expected a value > 0 within its ")
            for wrong in (
                [0.0, 0.0, 0.0],
                [-1.0, -2.0, 1.0],
                [2.0, None, None],
                [2.0, 2.1, 2.2],
                [2.0, 1.9],
                [float("nan")] * 3,
                [2.0, 1.9, float("inf")],
                "2.0",
            )
        ],
    ],
)
def test_an_incomplete_report_makes_its_host_unknown_and_says_why(row: Any, problem: str) -> None:
    network = network_of_hosts(HOST, row)

    rates = network.host_rates
    assert rates is not None
    assert np.isnan(rates.values[1]).all()
    assert rates.num_cores.tolist() == [4, 0]
    assert stragglers(rates) == [] and host_speeds(rates) is None
    assert network.unmeasured_pairs() == []
    (line,) = [line for line in host_rates_lines(network) if "unknown" in line]
    assert line.startswith(f"how fast b computes is unknown: {problem}")


def test_where_no_host_reports_its_rates_the_pairs_stay() -> None:
    network = network_of_hosts(None, None)

    assert network.host_rates is None
    assert network.unmeasured_pairs() == []
    assert len(host_rates_lines(network)) == 2
