# SPDX-License-Identifier: Apache-2.0
"""An impossible value in a file is refused, and the message names file and field."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from saved_samples import save_network, save_traffic

import fairlead as fl
from fairlead.flows.compare.comparison import PredictedCost
from fairlead.report.files import load_any


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("latency_s", [[0, -1], [1, 0]], "latency_s"),
        ("latency_s", [[0, 1]], "latency_s"),
        ("bandwidth_Bps", [[np.inf, 0], [1, np.inf]], "bandwidth_Bps"),
        ("latency_low_s", [[0, -1], [1, 0]], "latency_low_s: every value must be >= 0"),
        ("bandwidth_high_Bps", [[0, -1], [1, 0]], "bandwidth_high_Bps: every value must be >= 0"),
        ("samples", [[0, -1], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, np.nan], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, 1e300], [1, 0]], "samples: every value must be a whole number"),
        ("samples", [[0, 1.5], [1, 0]], "samples: every value must be a whole number"),
    ],
)
def test_impossible_value_in_file_is_named(field, value, problem, tmp_path: Path) -> None:
    save_network(tmp_path / "a.npz", {field: np.array(value)})
    with pytest.raises(fl.InputError, match=rf"a\.npz: .*{problem}"):
        fl.Network.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": True}, r"meta\.version: expected 2 or 3, got True"),
        ({"hosts": "ab"}, r"meta\.hosts: expected a list, got 'ab'"),
        ({"unreachable": 5}, r"meta\.unreachable: expected an object, got 5"),
        ({"unreachable": {"b": 5}}, r"meta\.unreachable\.b: expected a reason in words, got 5"),
        ({"flows": 7}, r"meta\.flows: expected an object or null, got 7"),
        ({"flows": {"is_complete": 1}}, r"meta\.flows\.is_complete: expected true or false, got 1"),
        ({"flows": {"is_complete": True, "error": 1}}, r"meta\.flows\.error: expected text"),
        ({"launch_s": "1"}, r"meta\.launch_s: expected a number or null, got '1'"),
        ({"launch_s": -1}, r"launch_s: must be finite and >= 0, got -1"),
        ({"launch_s": 10**400}, r"meta\.launch_s: "),
    ],
)
def test_impossible_header_of_a_network_is_named(change, problem, tmp_path: Path) -> None:
    save_network(tmp_path / "a.npz", **change)
    with pytest.raises(fl.InputError, match=rf"a\.npz: (network: )?{problem}"):
        fl.Network.load(tmp_path / "a.npz")


CALL = {"operation": "bcast", "communicator_size": 3, "message_bytes": 8, "calls": 1, "seconds": 0}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"run_time_s": -4}, "run_time_s: must be finite and >= 0"),
        ({"num_ranks": -2}, r"meta\.num_ranks: must be >= 1"),
        ({"collectives": [CALL | {"message_bytes": -8}]}, "collectives: numbers must be finite"),
        ({"collectives": [CALL | {"communicator_size": -1}]}, "collectives: numbers must be"),
        ({"uncounted": 7}, r"meta\.uncounted: expected an object, got 7"),
        ({"uncounted": {"messages": "7"}}, r"meta\.uncounted: is not a table of counts"),
        ({"uncounted": {"messages": -1}}, r"meta\.uncounted: expected counts >= 0"),
        ({"collectives": [CALL | {"seconds": float("nan")}]}, "collectives: numbers must be"),
        ({"collectives": [CALL | {"calls": 1.5}]}, "expected a whole number, got 1.5"),
        ({"collectives": [CALL | {"seconds": 10**400}]}, r"meta\.collectives: is not a table"),
        ({"collectives": [CALL | {"calls": 2**64}]}, r"collectives: .* below 2\*\*64"),
        ({"collectives": [CALL | {"message_bytes": 10**400}]}, r"collectives: .* below 2\*\*64"),
        ({"collectives": [CALL | {"root": 3}]}, "collectives: root: no rank of the communicator"),
        ({"collectives": [CALL | {"root": "0"}]}, "expected a whole number, got '0'"),
        ({"collectives": [CALL | {"communicator": 1}]}, "communicator: none of this size"),
        ({"collectives": [CALL | {"communicator": 2}]}, "communicator: none of this size"),
        ({"collectives": [CALL | {"communicator": -1}]}, "communicator: none of this size"),
        ({"run_time_s": 10**400}, "run_time_s: must be finite and >= 0, or nan, got inf"),
    ],
)
def test_impossible_header_of_a_traffic_is_named(change, problem, tmp_path: Path) -> None:
    save_traffic(tmp_path / "a.npz", **change)
    with pytest.raises(fl.InputError, match=rf"a\.npz: .*{problem}"):
        fl.Traffic.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("bytes.indptr", [0, np.nan, 2, 3], "expected whole numbers, got float64"),
        ("bytes.indptr", [0, 1.5, 2, 3], "expected whole numbers, got float64"),
        ("bytes.indptr", np.array([0, 3, 2, 3], dtype=np.uint64), "is not a row index"),
        ("bytes.indices", [1, 2.5, 0], "expected whole numbers, got float64"),
        ("communicators.indptr", [0, 4, 3], "is not an index of its members"),
        ("communicators.indptr", np.zeros(0, int), "is not an index of its members"),
        ("communicators.members", [0, 1, 2, 2], "expected shape"),
    ],
)
def test_impossible_index_in_a_traffic_is_named(field, value, problem, tmp_path: Path) -> None:
    save_traffic(tmp_path / "a.npz", {field: np.array(value)})
    with pytest.raises(fl.InputError, match=rf"a\.npz: {field}: {problem}"):
        fl.Traffic.load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "network"}, "kind"),
        ({"hosts": ["a", "a"]}, "hosts: 'a' is named twice"),
        ({"host_of_rank": [0, 10**23]}, "host_of_rank: a number is far above the 2 hosts"),
        ({"version": 0}, "version"),
        ({"host_of_rank": "ab"}, "host_of_rank"),
        ({"host_of_rank": [0, 9]}, "rank 1 is on host 9"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_wrong_placement_file_is_refused(change, field, tmp_path: Path) -> None:
    record = json.loads(fl.Placement(["a", "b"], np.array([0, 1])).to_json())
    (tmp_path / "p.json").write_text(json.dumps({**record, **change}))
    with pytest.raises(fl.InputError, match=field):
        fl.Placement.load(tmp_path / "p.json")


@pytest.mark.parametrize("times_s", [(1e308, 1e308), (5e-324, 1e-323), (1e300, 1e-300)])
def test_a_comparison_with_impossible_times_is_refused(times_s: tuple, tmp_path: Path) -> None:
    runs = {
        "hosts": ["a"],
        "host_of_rank": [0],
        "times_s": times_s,
        "predicted": dict.fromkeys(PredictedCost.model_fields, 1.0),
    }
    document = {
        **{"kind": "comparison", "version": 2, "methods": {"launcher": runs}, "program": ["cg"]},
        **{"num_ranks": 1, "repeats": 2, "hosts": ["a"], "mpi": "", "when": "2026-01-01T00:00:00Z"},
    }
    (tmp_path / "c.json").write_text(json.dumps(document))
    with pytest.raises(fl.InputError, match=r"c\.json: methods\.launcher\.times_s\[[01]\]: Input"):
        load_any(tmp_path / "c.json")
