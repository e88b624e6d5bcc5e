# SPDX-License-Identifier: Apache-2.0
"""Where hosts meet: by the user's text, or by the step of a Slurm job."""

from __future__ import annotations

import json

import pytest

from fairlead.decide.expected_gain import Gain
from fairlead.decide.hosts.bad_hosts import BadHost
from fairlead.decide.order import Ordering
from fairlead.errors import InputError, LaunchError
from fairlead.flows.order.rendezvous import (
    Place,
    as_json,
    join_ordering,
    parse_place,
    place_of_step,
)
from fairlead.measure.tcp import DEFAULT_PORT


def test_place_has_a_port_of_its_own_or_the_usual_one() -> None:
    assert parse_place("far.invalid:4000", listens=False) == Place(("far.invalid", 4000), False)
    assert parse_place("far.invalid", listens=False).address == ("far.invalid", DEFAULT_PORT)


def test_host_that_joins_itself_listens() -> None:
    assert parse_place("localhost", listens=False).is_own
    assert parse_place("far.invalid", listens=True).is_own


@pytest.mark.parametrize("text", ["h0:", "h0:0", "h0:70000", "h0:x", ":4000", ""])
def test_wrong_place_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"expected HOST|the port must be"):
        parse_place(text, listens=False)


STEP = {
    "SLURM_JOB_ID": "1234",
    "SLURM_STEP_NODELIST": "n[1-3]",
    "SLURM_STEP_NUM_NODES": "3",
    "SLURM_STEP_NUM_TASKS": "3",
    "SLURM_NODEID": "0",
}


def test_hosts_of_a_step_meet_at_the_first_one() -> None:
    first = place_of_step(STEP)
    second = place_of_step({**STEP, "SLURM_NODEID": "1"})

    assert first == (Place(("n1", DEFAULT_PORT + 234), True), ["n1", "n2", "n3"])
    assert second == (Place(("n1", DEFAULT_PORT + 234), False), ["n1", "n2", "n3"])


@pytest.mark.parametrize(
    "env",
    [
        {},
        {**STEP, "SLURM_STEP_NUM_TASKS": "6"},
        {**STEP, "SLURM_STEP_NUM_NODES": "1", "SLURM_STEP_NUM_TASKS": "1"},
    ],
)
def test_process_that_is_not_one_of_each_host_meets_nobody(env: dict[str, str]) -> None:
    assert place_of_step(env) is None


def test_order_reaches_those_that_join_as_it_is() -> None:
    ordering = Ordering(
        ("b", "a"), (2, 2), ("a", "b"), ("c",), Gain(0.3, 0.1, 0.4), True, (BadHost("c", ()),)
    )

    assert join_ordering(json.loads(json.dumps(as_json(ordering, "b")))) == (ordering, "b")


def test_order_of_another_version_is_refused() -> None:
    with pytest.raises(LaunchError, match="another version"):
        join_ordering({"hosts": ["a"]})
