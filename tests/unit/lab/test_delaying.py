# SPDX-License-Identifier: Apache-2.0
"""What delays a lab's packets: by the kernel, and by what the scenario wants."""

from __future__ import annotations

import pytest

from fairlead.errors import LabError
from fairlead.lab import Scenario
from fairlead.lab.delaying import DelayBy, choose_delay
from fairlead.lab.topology import Topology, draw_topology


def delayed(nic: str = "1ms") -> Topology:
    fields = {"name": "a", "hosts": 2, "nic": "1Gbit/s", "latency": {"nic": nic}}
    return draw_topology(Scenario.model_validate(fields))


@pytest.fixture(params=[True, False], ids=["netem", "no-netem"])
def has_netem(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_kernel_decides_by_default(has_netem: bool) -> None:
    expected = DelayBy.netem if has_netem else DelayBy.line
    assert choose_delay(delayed(), None, lambda: has_netem) is expected
    assert choose_delay(delayed(), "line", lambda: has_netem) is DelayBy.line


def test_nothing_stands_in_the_way_of_what_is_not_delayed(has_netem: bool) -> None:
    assert choose_delay(delayed("0s"), "line", lambda: has_netem) is DelayBy.nothing


def test_wanted_netem_is_there_or_named(has_netem: bool) -> None:
    if has_netem:
        assert choose_delay(delayed(), "netem", lambda: has_netem) is DelayBy.netem
    else:
        with pytest.raises(LabError, match=r"latency\.by: this kernel has no netem"):
            choose_delay(delayed(), "netem", lambda: has_netem)
