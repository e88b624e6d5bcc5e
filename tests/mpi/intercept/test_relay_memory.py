# SPDX-License-Identifier: Apache-2.0
"""A sender that is ahead of its receiver keeps no more than a limit (programs/ahead.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from relaying import command, running, write_plan
from tracing import TracedMpi

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

NUM_RANKS = 3
"""With a third host there is a choice of ways."""
LIMIT_MIB = 256
SENT_MIB = 1024


def test_a_sender_far_ahead_of_its_receiver_keeps_a_bounded_part(
    mpi: TracedMpi, tmp_path: Path
) -> None:
    with running(NUM_RANKS) as routers:
        write_plan(tmp_path, routers, 1024)
        argv = command(mpi, NUM_RANKS, tmp_path, mpi.build("ahead.c"))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)

    complaints = [line for line in done.stderr.splitlines() if "fairlead" in line]
    assert (done.returncode, complaints) == (0, [])
    # What routers have taken is kept until it is acknowledged; half as much again is for all else.
    assert LIMIT_MIB / 2 < int(done.stdout) < 1.5 * LIMIT_MIB < SENT_MIB
