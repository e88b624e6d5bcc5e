# SPDX-License-Identifier: Apache-2.0
"""What interfaces carry, under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import contextlib
import os
import signal

import numpy as np
import pytest
from probing import NAMES, find_ranks, hosts, rank_of, words_on

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.errors import ProbeError
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


def test_where_a_host_is_lost_nothing_is_taken_for_measured(
    one_launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERFACES_TEST", str(os.getpid()))
    with ProbeProgram(one_launcher) as program:
        assert measure_interfaces(program, hosts(*NAMES[:4]), network(4, 1e6), 2.0) is not None
        (lost,) = [pid for pid in find_ranks(f"INTERFACES_TEST={os.getpid()}") if rank_of(pid) == 3]
        os.kill(lost, signal.SIGSTOP)
        with pytest.raises(ProbeError, match="does not answer"):
            measure_interfaces(program, hosts(*NAMES[:4]), network(4, 1e6), 2.0)
        with contextlib.suppress(ProcessLookupError):  # The launcher may have ended it already.
            os.kill(lost, signal.SIGCONT)


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ('{"interfaces": {"pair_Bps": -1}}', "pair_Bps: expected"),
        ('{"interfaces": {"hosts": 3}}', "hosts"),
        ('{"contention": true, "interfaces": {}}', "interfaces: together with contention"),
    ],
)
def test_an_invalid_order_is_refused(order: str, problem: str, one_launcher: Launcher) -> None:
    assert problem in words_on(order, one_launcher)
