# SPDX-License-Identifier: Apache-2.0
"""What delays a lab's packets: by the kernel, and by what the scenario wants."""

from __future__ import annotations

import pytest

from fairlead.errors import LabError
from fairlead.lab import Scenario, delaying
from fairlead.lab.delaying import DelayBy, choose_delay
from fairlead.lab.topology import Topology, draw_topology


def delayed(nic: str = "1ms") -> Topology:
    fields = {"name": "a", "hosts": 2, "nic": "1Gbit/s", "latency": {"nic": nic}}
    return draw_topology(Scenario.model_validate(fields))


@pytest.fixture(params=[True, False], ids=["netem", "no-netem"])
def has_netem(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(delaying, "has_netem", lambda switch, index: request.param)
    monkeypatch.setattr(delaying, "index_of", lambda switch, name: 1)
    return bool(request.param)


def test_the_kernel_decides_unless_told_otherwise(has_netem: bool) -> None:
    expected = DelayBy.netem if has_netem else DelayBy.line
    assert choose_delay(delayed(), None, None) is expected  # type: ignore[arg-type]
    assert choose_delay(delayed(), None, "line") is DelayBy.line  # type: ignore[arg-type]


def test_nothing_stands_in_the_way_of_what_is_not_delayed(has_netem: bool) -> None:
    assert choose_delay(delayed("0s"), None, "line") is DelayBy.nothing  # type: ignore[arg-type]


def test_wanted_netem_is_there_or_named(has_netem: bool) -> None:
    if has_netem:
        assert choose_delay(delayed(), None, "netem") is DelayBy.netem  # type: ignore[arg-type]
    else:
        with pytest.raises(LabError, match=r"latency\.by: this kernel has no netem"):
            choose_delay(delayed(), None, "netem")  # type: ignore[arg-type]
