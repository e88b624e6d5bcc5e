# SPDX-License-Identifier: Apache-2.0
"""Relayed messages keep what MPI promises of messages (programs/relayed.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from relaying import Routers, command, running, write_plan
from tracing import TracedMpi

from fairlead.act.plan.relay import RELAY_RULES

pytestmark = [pytest.mark.mpi, pytest.mark.slow]


SILENT_SUCCESS = (0, "ok\n", [])


def run(
    mpi: TracedMpi,
    num_ranks: int,
    routers: Routers,
    plan: Path,
    threshold_bytes: int,
    *words: str,
    rule: str = RELAY_RULES[0],
) -> tuple[int, str, list[str]]:
    """Exit code and output of the program, and what the library complains of."""
    write_plan(plan, routers, threshold_bytes, rule)
    argv = command(mpi, num_ranks, plan, mpi.build("relayed.c"), *words)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
    complaints = [line for line in done.stderr.splitlines() if "fairlead" in line]
    return done.returncode, done.stdout, complaints


# Each threshold with few ranks and with several, and once as many as there are in these tests.
@pytest.mark.parametrize(
    ("num_ranks", "threshold_bytes", "rule"),
    [
        (2, 0, "trials"),
        (2, 1024, "mcm"),
        (2, 65536, "trials"),
        (3, 1024, "trials"),
        (5, 0, "mcm"),
        (5, 1024, "trials"),
        (5, 65536, "mcm"),
        (8, 1024, "trials"),
    ],
)
def test_relayed_messages_keep_mpi_semantics(
    mpi: TracedMpi, num_ranks: int, threshold_bytes: int, rule: str, tmp_path: Path
) -> None:
    with running(num_ranks) as routers:
        done = run(mpi, num_ranks, routers, tmp_path, threshold_bytes, rule=rule)

    assert done == SILENT_SUCCESS


@pytest.mark.parametrize(("num_ranks", "threshold_bytes"), [(3, 0), (2, 1024), (2, 65536)])
def test_relayed_messages_of_several_threads_stay_apart(
    mpi: TracedMpi, num_ranks: int, threshold_bytes: int, tmp_path: Path
) -> None:
    with running(num_ranks) as routers:
        done = run(mpi, num_ranks, routers, tmp_path, threshold_bytes, "threads")

    assert done == SILENT_SUCCESS


def test_a_program_ends_although_messages_are_never_received(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    with running(3) as routers:
        assert run(mpi, 3, routers, tmp_path, 1024, "unreceived") == SILENT_SUCCESS


def test_a_program_whose_routers_do_not_answer_runs_without_relays(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    with running(3) as routers:
        routers.end()
        # Of all calls of the program some go wrong with MPICH alone.
        code, output, complaints = run(mpi, 3, routers, tmp_path, 1024, "rounds", "5")

    assert (code, output, len(complaints)) == (0, "ok\n", 1)
    assert "no message is relayed: the router of host 'host0' did not answer" in complaints[0]
