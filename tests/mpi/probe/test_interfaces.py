# SPDX-License-Identifier: Apache-2.0
"""What interfaces carry, under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import numpy as np
import pytest
from probing import NAMES, hosts

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.measure.interfaces import measure_interfaces
from fairlead.measure.probe_program import ProbeProgram

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]


def network(num_hosts: int, bandwidth_Bps: float) -> fl.Network:
    rates_Bps = np.full((num_hosts, num_hosts), bandwidth_Bps)
    return fl.Network(NAMES[:num_hosts], np.zeros((num_hosts, num_hosts)), rates_Bps)


def test_flows_of_all_hosts_run_at_once_and_the_program_goes_on(launcher: Launcher) -> None:
    cluster = hosts(*NAMES[:4])
    with ProbeProgram(launcher) as program:
        first = measure_interfaces(program, cluster, network(4, 1e6), 2.0)
        again = measure_interfaces(program, cluster, network(4, 1e6), 2.0)
    for found in (first, again):
        assert found is not None
        # Processes of one machine reach more than the megabyte per second that pairs are said to.
        assert np.all(found.out_Bps > 1e6) and np.all(found.in_Bps > 1e6)
        assert np.all(np.isfinite(found.out_Bps)) and np.all(np.isfinite(found.in_Bps))


def test_the_fastest_pair_is_a_lower_bound_as_well(launcher: Launcher) -> None:
    with ProbeProgram(launcher) as program:
        found = measure_interfaces(program, hosts(*NAMES[:3]), network(3, 1e15), 2.0)
    assert found is not None
    assert found.out_Bps.tolist() == [1e15] * 3


def test_two_hosts_and_unknown_pairs_have_nothing_to_measure(launcher: Launcher) -> None:
    with ProbeProgram(launcher) as program:
        assert measure_interfaces(program, hosts(*NAMES[:2]), network(2, 1e6), 2.0) is None
        assert measure_interfaces(program, hosts(*NAMES[:3]), network(3, np.nan), 2.0) is None
