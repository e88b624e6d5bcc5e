# SPDX-License-Identifier: Apache-2.0
"""One launch of the measuring program for several orders, under three real MPIs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from launchers import processes_with, wait_until
from probing import NAMES, find_ranks, hosts

from fairlead.act.launch import Launcher, detect
from fairlead.measure.long_trains import long_train_options, measure_with_long_trains, network_of
from fairlead.measure.probe import probe
from fairlead.measure.probe_program import ProbeProgram

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]

CLUSTER = hosts(*NAMES[:3])
LIMIT_S = 300.0


def pair(low: int, high: int) -> np.ndarray:
    mask = np.zeros((3, 3), dtype=bool)
    mask[low, high] = mask[high, low] = True
    return mask


@pytest.fixture
def program(one_launcher: Launcher) -> Iterator[ProbeProgram]:
    with ProbeProgram(one_launcher) as program:
        yield program


def test_each_order_is_answered_by_itself(launcher: Launcher) -> None:
    with ProbeProgram(launcher) as program:
        for low, high in ((0, 1), (1, 2), (0, 2), (0, 1)):
            found = measure_with_long_trains(program, CLUSTER, pair(low, high), 5.0)
            assert found is not None
            known = np.isfinite(found.bandwidth_Bps) & ~np.eye(3, dtype=bool)
            assert np.array_equal(known, pair(low, high))
            assert program.is_running_on(CLUSTER)


def test_the_same_processes_stay_for_all_orders_and_then_leave(
    one_launcher: Launcher, program: ProbeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = f"ORDERS_TEST={os.getpid()}"
    monkeypatch.setenv(*tag.split("="))
    network = probe(one_launcher, CLUSTER, program=program)
    assert not network.unmeasured_pairs()
    first = find_ranks(tag)
    assert len(first) == 3
    measure_with_long_trains(program, CLUSTER, pair(0, 2), 5.0)
    assert find_ranks(tag) == first
    two = hosts(*NAMES[:2])
    measure_with_long_trains(program, two, ~np.eye(2, dtype=bool), 5.0)
    assert len(find_ranks(tag)) == 2
    program.close()
    wait_until(lambda: not processes_with(tag))


def test_a_launcher_that_forwards_no_input_starts_the_program_again(
    one_launcher: Launcher, tmp_path: Path
) -> None:
    deaf = tmp_path / "mpirun"
    deaf.write_text(f'#!/bin/sh\nexec {one_launcher.path} "$@" </dev/null\n')
    deaf.chmod(0o755)
    with ProbeProgram(detect(str(deaf))) as program:
        for low, high in ((0, 1), (1, 2)):
            found = measure_with_long_trains(program, CLUSTER, pair(low, high), 5.0)
            assert found is not None
            assert np.isfinite(found.bandwidth_Bps[low, high])


def test_an_order_longer_than_any_argument_is_carried_out(
    program: ProbeProgram,
) -> None:
    none = np.zeros((3, 3), dtype=bool)
    rehearsal = {"patterns": [[[0, 1, 1]] * 100_000], "time_s": 0.1}
    options = long_train_options(none, 1.0) | {"rehearsal": rehearsal}
    answer = program.order(CLUSTER, options, timeout_s=LIMIT_S, formats=["fairlead-rehearsal"])
    assert '"fairlead-rehearsal"' in answer.stdout
    assert program.is_running_on(CLUSTER)
    assert network_of(answer.stdout, CLUSTER) is not None


def test_an_invalid_order_ends_the_program_with_the_reason(
    program: ProbeProgram,
) -> None:
    measure_with_long_trains(program, CLUSTER, pair(0, 1), 5.0)
    answer = program.order(CLUSTER, {"mode": "fast"}, timeout_s=LIMIT_S)
    assert "order: mode: expected quick, long-trains or full, got 'fast'" in answer.stderr
    assert not program.is_running_on(CLUSTER)
    assert measure_with_long_trains(program, CLUSTER, pair(0, 1), 5.0) is not None
