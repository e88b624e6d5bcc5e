# SPDX-License-Identifier: Apache-2.0
"""Hosts after -H mean what they mean to the launchers."""

from __future__ import annotations

import pytest

from fairlead.cli.request_options import hosts_named


@pytest.mark.parametrize(
    ("hosts", "slots", "bare"),
    [
        ("h0:4,h1:2", {"h0": 4, "h1": 2}, set()),
        ("h0,h1", {"h0": 1, "h1": 1}, set()),
        ("h0,h1,h0", {"h0": 2, "h1": 1}, set()),
        # Open MPI 4.1.4 and 5.0.11: as many slots as the host has cores.
        ("h0:*,h1", {"h0": 1, "h1": 1}, {"h0"}),
        ("h0:auto,h1:auto", {"h0": 1, "h1": 1}, {"h0", "h1"}),
    ],
)
def test_slots_are_given_or_the_launchers_to_choose(
    hosts: str, slots: dict[str, int], bare: set[str]
) -> None:
    cluster = hosts_named(None, hosts)

    assert cluster is not None
    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == slots
    assert cluster.bare_hosts == bare
