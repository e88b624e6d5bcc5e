# SPDX-License-Identifier: Apache-2.0
"""However a launch ends, nothing of it is left: ranks, launcher, its daemons, its remote agents."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from launchers import ALL_LAUNCHERS, agent_environment, processes_with, wait_until

pytestmark = pytest.mark.mpi

# Three ranks leave their process ids and sleep; one of them does not listen to SIGTERM.
SLEEPER = """
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ "$rank" = 1 ] && trap '' TERM
echo $$ > "$1/rank-$rank"
sleep 300
"""

RUNNER = """
import sys
from pathlib import Path
import numpy as np
from fairlead.model.cluster import Cluster
from fairlead.act.launch import LaunchSpec, detect, run
from fairlead.model.placement import Placement

mpirun, folder, script = sys.argv[1:]
cluster = Cluster(("alpha", "localhost"), (1, 2))
placement = Placement(cluster.hosts, np.array([1, 1, 0]))
spec = LaunchSpec(("/bin/sh", "-c", script, "sleeper", folder), 3, cluster, placement)
sys.exit(run(detect(mpirun).prepare_command(spec, Path(folder))).returncode)
"""


class Launched:
    """A process that runs a job on this machine and an invented host, and what came of it."""

    def __init__(self, mpirun: str, folder: Path, env: dict[str, str]) -> None:
        self.mark = f"ENDING_TEST={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, mpirun, str(folder), SLEEPER],
            env={**os.environ, **env, name: value},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def left(self) -> list[int]:
        return processes_with(self.mark)

    def launcher_pid(self) -> int:
        """The launcher is the only child of the keeper, which is the only child of our process."""
        (keeper,) = children(self.process.pid)
        return next(
            pid
            for pid in children(keeper)
            if {b"--hostfile", b"-f", b"-machinefile"} & {*cmdline(pid)}
        )


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def cmdline(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


@pytest.fixture(params=ALL_LAUNCHERS)
def launched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Launched]:
    with agent_environment() as variables:
        started = Launched(ALL_LAUNCHERS[request.param].mpirun, tmp_path, variables)
        try:
            wait_until(lambda: len([*tmp_path.glob("rank-*")]) == 3)
            yield started
        finally:
            for pid in started.left():
                os.kill(pid, signal.SIGKILL)
            started.process.wait()


@pytest.mark.parametrize(
    ("number", "returncode"),
    [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)],
)
def test_signal_to_fairlead_ends_every_process(
    launched: Launched, number: int, returncode: int
) -> None:
    assert len(launched.left()) >= 6

    launched.process.send_signal(number)

    assert launched.process.wait() == returncode
    assert launched.left() == []


def test_killed_launcher_is_outlived_by_no_rank_and_no_daemon(launched: Launched) -> None:
    os.kill(launched.launcher_pid(), signal.SIGKILL)

    assert launched.process.wait() == 128 + signal.SIGKILL
    assert launched.left() == []


def test_killed_fairlead_is_outlived_by_no_process(launched: Launched) -> None:
    launched.process.kill()

    assert launched.process.wait() == -signal.SIGKILL
    wait_until(lambda: launched.left() == [])
