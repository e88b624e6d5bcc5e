# SPDX-License-Identifier: Apache-2.0
"""What the measuring program prints of flows run together is checked, then joins the network."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from test_probe_result import document as pairs_document

from fairlead.errors import ProbeError
from fairlead.measure.contention_result import read_contention
from fairlead.measure.probe_result import read_result
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.network import Network

GROUP = {
    "sources": [0, 2],
    "destinations": [1, 3],
    "capacity_Bps": 2.5e7,
    "capacity_low_Bps": 2.4e7,
    "capacity_high_Bps": None,
    "confidence_ratio": 0.99,
}


def document(**changes: Any) -> str:
    fields = {
        "format": "fairlead-contention",
        "version": 1,
        "num_steps": 120,
        "is_complete": True,
        "probing_s": 12.5,
        "nic_out_Bps": [1e8, 2e8, None, 4e8],
        "nic_in_Bps": [5e8, 6e8, 7e8, 8e8],
        "groups": [GROUP],
    }
    return json.dumps(fields | changes)


def network(*hosts: str) -> Network:
    matrix = np.full((len(hosts), len(hosts)), 1e8)
    return Network(hosts, matrix / 1e12, matrix, origin={"how": "measured"})


def test_ranks_become_hosts_of_the_network() -> None:
    result = read_contention(document(), 4)
    assert result is not None

    # One host was not reached, so rank 2 is the fourth host.
    found = result.add_to(network("a", "b", "gone", "c", "d"), ("a", "b", "c", "d"))

    (group,) = found.groups
    assert sorted(group.pairs.tolist()) == [[0, 1], [0, 4], [3, 1], [3, 4]]
    assert (group.capacity_Bps, group.capacity_low_Bps) == (2.5e7, 2.4e7)
    assert np.isnan(group.capacity_high_Bps)
    assert found.nic_out_Bps is not None and found.nic_in_Bps is not None
    np.testing.assert_equal(found.nic_out_Bps, [1e8, 2e8, np.nan, np.nan, 4e8])
    np.testing.assert_equal(found.nic_in_Bps, [5e8, 6e8, np.nan, 7e8, 8e8])
    assert found.origin["how"] == "measured"
    assert found.origin["contention"]["num_steps"] == 120
    assert found.flows == FlowsSummary(is_complete=True)


def test_both_documents_are_found_in_one_output() -> None:
    printed = f"hello\n{pairs_document()}\n{document()}\nlauncher: bye\n"

    assert read_result(printed, 2) is not None
    assert read_contention(printed, 4) is not None


def test_the_pairs_are_whole_where_the_second_document_is_not() -> None:
    whole = document()
    for length in range(len(whole)):
        printed = f"{pairs_document()}\n{whole[:length]}"
        assert read_result(printed, 2) is not None
        assert read_contention(printed, 4) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": 2}, "version"),
        ({"num_steps": -1}, "num_steps"),
        ({"nic_out_Bps": [1e8]}, "nic_out_Bps"),
        ({"nic_in_Bps": [0.0] * 4}, "nic_in_Bps"),
        ({"groups": [GROUP | {"sources": []}]}, "sources"),
        ({"groups": [GROUP | {"sources": [0, 4]}]}, "groups"),
        ({"groups": [GROUP | {"sources": [0, 1]}]}, "groups"),
        ({"groups": [GROUP | {"capacity_Bps": 0.0}]}, "capacity_Bps"),
        ({"groups": [GROUP | {"confidence_ratio": 1.5}]}, "confidence_ratio"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_impossible_documents_are_refused_by_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ProbeError, match=f"result of the contention probe: .*{field}"):
        read_contention(document(**changes), 4)
