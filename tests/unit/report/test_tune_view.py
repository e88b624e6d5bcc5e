# SPDX-License-Identifier: Apache-2.0
"""What is shown of measured collectives."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import numpy as np
from rich.console import Console

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.decide.collectives.call_kind import CallKind
from fairlead.decide.collectives.choosing import Choice
from fairlead.decide.expected_gain import Gain
from fairlead.flows.tune.flow import Tuning
from fairlead.report import tune_view


def kind(operation: str, message_bytes: int) -> CallKind:
    return CallKind(operation, message_bytes, frozenset({"a", "b"}), 4)


SLOWER = Gain(-1.0, -np.inf, np.inf)
CHOICES = [
    Choice(kind("bcast", 65536), 0.02, "forest", 0.01, Gain(0.5, 0.4, 0.6), True, 8),
    Choice(kind("reduce", 65536), 0.02, "forest", 0.04, SLOWER, False, 4),
    Choice(kind("allgather", 4096), 0.02),
]


def tuning() -> Tuning:
    network = fl.Network(("a", "b"), np.zeros((2, 2)), np.full((2, 2), 1e8))
    placement = fl.Placement(("a", "b"), np.array([0, 0, 1, 1]))
    launcher = OpenMpi4(Path("/mpirun"), (4, 1, 4))
    return Tuning(launcher, network, placement, CHOICES, 1, False, 2.5)


def test_each_call_has_a_row_that_says_what_is_used() -> None:
    text = io.StringIO()
    Console(file=text, width=100).print(tune_view.view(tuning()))

    title, *rows = [line.split() for line in text.getvalue().splitlines() if line.strip()]
    assert " ".join(title) == ("4 ranks on 2 hosts, Open MPI 4.1.4: 3 calls measured in 2.5 s")
    by_operation = {row[0]: " ".join(row[1:]) for row in rows[1:]}
    assert by_operation == {
        "bcast": "64 KiB 20 ms 10 ms forest 50% 40 to 60% yes",
        "reduce": "64 KiB 20 ms 40 ms forest -100% slower no",
        "allgather": "4 KiB 20 ms - – – – no",
    }


def test_no_cell_is_broken_at_80_columns() -> None:
    longest = Choice(
        kind("reduce_scatter", 262144), 0.252, "dissemination", 0.0552,
        Gain(0.78, 0.771, 0.792), True, 8,
    )  # fmt: skip
    text = io.StringIO()
    Console(file=text, width=80).print(
        tune_view.view(dataclasses.replace(tuning(), choices=[longest]))
    )

    *_, row = [line.split() for line in text.getvalue().splitlines() if line.strip()]
    assert " ".join(row) == "reduce_scatter 256 KiB 252 ms 55.2 ms dissemination 78% 77 to 79% yes"


def test_facts_are_json_and_hold_the_rules() -> None:
    facts = json.loads(json.dumps(tune_view.facts(tuning()), allow_nan=False))

    assert [call["gain"] for call in facts["calls"]] == [
        {"ratio": 0.5, "low_ratio": 0.4, "high_ratio": 0.6},
        {"ratio": -1.0, "low_ratio": None, "high_ratio": None},
        None,
    ]
    (rule,) = facts["rules"]
    assert rule == {
        "operation": "bcast",
        "method": "forest",
        "min_bytes": 32768,
        "max_bytes": 131071,
        "hosts": ["a", "b"],
        "num_ranks": 4,
        "least_saved_ratio": None,
    }
