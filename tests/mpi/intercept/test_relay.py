# SPDX-License-Identifier: Apache-2.0
"""Relayed messages keep what MPI promises of messages (programs/relayed.c)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from relaying import Routers, command, running, write_plan
from tracing import TracedMpi

from fairlead.act.launch import detect
from fairlead.act.plan.relay import RELAY_RULES
from fairlead.watch.relay_traffic import load_relay_traffic

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


# Each threshold with two or three ranks; five relay all messages, or those above a threshold.
@pytest.mark.parametrize(
    ("num_ranks", "threshold_bytes", "rule"),
    [
        (2, 0, "trials"),
        (2, 1024, "mcm"),
        (3, 65536, "trials"),
        (5, 0, "mcm"),
        (5, 1024, "trials"),
    ],
)
def test_relayed_messages_keep_mpi_semantics(
    mpi: TracedMpi, num_ranks: int, threshold_bytes: int, rule: str, tmp_path: Path
) -> None:
    with running(num_ranks) as routers:
        done = run(mpi, num_ranks, routers, tmp_path, threshold_bytes, rule=rule)
        are_relayed = routers.all_forward()

    assert done == SILENT_SUCCESS
    assert are_relayed


@pytest.mark.parametrize(("num_ranks", "threshold_bytes"), [(3, 0), (2, 1024), (2, 65536)])
def test_relayed_messages_of_several_threads_stay_apart(
    mpi: TracedMpi, num_ranks: int, threshold_bytes: int, tmp_path: Path
) -> None:
    with running(num_ranks) as routers:
        done = run(mpi, num_ranks, routers, tmp_path, threshold_bytes, "threads")
        are_relayed = routers.all_forward()

    assert done == SILENT_SUCCESS
    assert are_relayed


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
        # Some of the program's calls go wrong with MPICH alone, so not all are made.
        code, output, complaints = run(mpi, 3, routers, tmp_path, 1024, "rounds", "5")

    assert (code, output, len(complaints)) == (0, "ok\n", 1)
    assert "no message is relayed: the router of host 'host0' did not answer" in complaints[0]


# A longjmp leaves behind what a frame would have freed.
@pytest.mark.parametrize("way", ["exception", "pthread_exit", "pthread_cancel"])
@pytest.mark.parametrize("calls", [[], ["receives"]])
def test_a_call_may_be_left_by_its_error_handler(
    mpi: TracedMpi, way: str, calls: list[str], tmp_path: Path
) -> None:
    with running(2) as routers:
        write_plan(tmp_path, routers, 1024)
        argv = command(mpi, 2, tmp_path, mpi.build("leaving.cpp"), way, *calls)
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr


# Pointers to no handle, wrong arguments, receives that are too small, freed communicators.
@pytest.mark.parametrize(
    ("source", "num_ranks", "expected"),
    [
        ("null_handles.c", 2, "MPI_Cancel(NULL): error"),
        ("some_truncated.c", 2, "Testsome, 500 of 0: receive 2: success, right"),
        ("wrong_messages.c", 2, "received 4096: right"),
        ("delete_callbacks.c", 3, "right 708"),
    ],
)
def test_a_program_prints_what_it_prints_without_relays(
    mpi: TracedMpi, source: str, num_ranks: int, expected: str, tmp_path: Path
) -> None:
    program = mpi.build(source)
    launcher = detect(mpi.mpirun)
    plain = subprocess.run(
        launcher.prepare_command(mpi.spec(num_ranks, program), tmp_path),
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip

    with running(num_ranks) as routers:
        write_plan(tmp_path, routers, 0)
        relayed = subprocess.run(
            command(mpi, num_ranks, tmp_path, program),
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        is_relayed = routers.forwards(0)

    assert relayed.returncode == 0, relayed.stderr
    assert expected in plain.stdout
    assert sorted(relayed.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert is_relayed


def large_bytes(num_rounds: int, threshold_bytes: int) -> int:
    """What each rank of `relayed rounds` sends in messages of at least this size."""
    sizes, random = [], 1
    for _ in range(num_rounds):
        random = (random * 1103515245 + 12345) % 2**32
        sizes.append((random >> 8) % 2**20)
    return sum(size for size in sizes if size >= threshold_bytes)


@pytest.mark.parametrize("is_forced", [True, False])
def test_processes_leave_what_carried_their_large_messages(
    mpi: TracedMpi, is_forced: bool, tmp_path: Path
) -> None:
    with running(3) as routers:
        write_plan(tmp_path / "plan", routers, 65536, is_forced=is_forced)
        argv = command(mpi, 3, tmp_path / "plan", mpi.build("relayed.c"), "rounds", "20")
        env = {**os.environ, "FAIRLEAD_RECORD": str(tmp_path)}
        subprocess.run(argv, env=env, capture_output=True, check=True, timeout=600)

    found = load_relay_traffic(tmp_path, 3)

    assert found is not None
    # What was sent again counts again.
    assert found.mpi_bytes + found.routers_bytes >= 3 * large_bytes(20, 65536)
    if is_forced:
        assert found.mpi_bytes == 0
        assert {path[0] for path in found.by_routers} == {0, 1, 2}
        assert set(found.learned) == set(found.by_routers)
