# SPDX-License-Identifier: Apache-2.0
"""The cloud in which whole runs are tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fairlead.lab import Lab, Scenario


@pytest.fixture(scope="session")
def small_cloud() -> Scenario:
    """Two racks of two hosts in hidden order behind slow uplinks."""
    return Scenario.model_validate(
        {
            "name": "small",
            "hosts": 4,
            "slots": 2,
            "nic": "400Mbit/s",
            "order_seed": 3,
            "racks": {"count": 2, "uplink": "40Mbit/s"},
        }
    )


@pytest.fixture(scope="module")
def lab(small_cloud: Scenario) -> Iterator[Lab]:
    """The small cloud, up for a module."""
    with Lab.up(small_cloud) as up:
        yield up
