# SPDX-License-Identifier: Apache-2.0
"""Two names of one machine are named; names that only look alike are not."""

from __future__ import annotations

import numpy as np
import pytest

from fairlead.errors import ProbeError
from fairlead.measure.one_machine import (
    describe_one_machine,
    group_by_machine,
    require_planned_hosts,
)
from fairlead.model.network import Network


def network(identities: list[int]) -> Network:
    hosts = ("a", "b", "c", "d")
    zeros = np.zeros((4, 4))
    return Network(
        hosts, zeros, np.full((4, 4), np.inf), origin=group_by_machine(hosts, identities)
    )


@pytest.mark.parametrize(
    ("identities", "lines"),
    [
        ([1, 2, 3, 4], []),
        ([], []),
        ([0, 0, 0, 0], []),
        ([7, 2, 7, 4], ["hosts 'a' and 'c' are one machine; name it once, with all its slots"]),
        (
            [7, 7, 2, 7],
            ["hosts 'a', 'b' and 'd' are one machine; name it once, with all its slots"],
        ),
        ([7, 2, 7, 2], ["hosts 'a' and 'c' are one", "hosts 'b' and 'd' are one"]),
    ],
)
def test_names_of_one_machine_are_in_one_line(identities: list[int], lines: list[str]) -> None:
    found = describe_one_machine(network(identities))

    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


def test_hosts_that_are_left_out_are_not_named() -> None:
    assert describe_one_machine(network([7, 2, 7, 4]).select(["a", "b"])) == []


def refusal_of(hosts: tuple[str, ...], node_names: tuple[str, ...]) -> str | None:
    """Why processes on these nodes are not those of the hosts; None where they are."""
    try:
        require_planned_hosts(hosts, node_names)
    except ProbeError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("hosts", "node_names"),
    [
        (("n1", "n2"), ("n1.cluster", "n2.cluster")),
        (("n1.cluster", "n2.cluster"), ("n1", "n2")),
        (("n1.a", "n1.b"), ("n1.a", "n1.b")),
        (("n1.a", "n1.b"), ("n1", "n1")),
        (("10.0.0.1", "10.0.0.2"), ("n1", "n2")),
        (("n1", "n2"), ("", "n2")),
    ],
)
def test_names_with_and_without_domain_are_one(
    hosts: tuple[str, ...], node_names: tuple[str, ...]
) -> None:
    assert refusal_of(hosts, node_names) is None


@pytest.mark.parametrize(
    ("hosts", "node_names"),
    [
        (("web", "n1"), ("n1", "n1")),
        (("n1", "n2"), ("n2.cluster", "n1.cluster")),
        (("n1.a", "n1.b"), ("n1.b", "n1.a")),
    ],
)
def test_a_process_on_another_of_the_hosts_is_refused(
    hosts: tuple[str, ...], node_names: tuple[str, ...]
) -> None:
    refusal = refusal_of(hosts, node_names)
    assert refusal is not None
    assert f"'{hosts[0]}' was started on '{hosts[1]}': either both" in refusal
