# SPDX-License-Identifier: Apache-2.0
"""Each signal does to `fairlead run` what it does to the plain launcher: a table for each MPI.

`FAIRLEAD_SIGNAL_TABLE=FILE` adds its lines to that file, as they are in
docs/reference/launcher-signals.md.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from launchers import MPIS, wait_until

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

NUM_RANKS = 2
SETTLE_S = 2.0
"""What has not come to the ranks after this time does not come."""

# Each rank notes what it hears. It ends when it may, or with a checkpoint after SIGTERM.
RANK = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}
for name in HUP INT QUIT USR1 USR2 ALRM CONT WINCH ABRT XCPU SYS; do
  trap "echo $name >> heard-$rank" $name
done
trap "echo TERM >> heard-$rank; sleep 0.2; echo saved >> heard-$rank; exit 0" TERM
echo $$ > ready-$rank
until [ -e end ]; do sleep 0.1; done
"""


@dataclasses.dataclass(frozen=True)
class Effect:
    """What a signal did.

    Attributes:
        exit_code: Exit code of the command.
        heard: What the ranks heard of it.
    """

    exit_code: int
    heard: tuple[str, ...]

    def __str__(self) -> str:
        heard = ", ".join(self.heard) or "nothing"
        return f"ranks hear {heard}; exit code {self.exit_code}"


def effect_of(number: signal.Signals, command: Sequence[str], folder: Path) -> Effect:
    """Start a command, send the signal when all ranks are ready, and let them end."""
    folder.mkdir()
    program = folder / "rank.sh"
    program.write_text(RANK)
    program.chmod(0o755)
    homes = {name: str(folder / "home") for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    with subprocess.Popen(
        [*command, str(program)], cwd=folder, env=os.environ | homes,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_until(
            lambda: len([*folder.glob("ready-*")]) == NUM_RANKS or process.poll() is not None
        )
        process.send_signal(number)
        try:
            process.wait(SETTLE_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGCONT if number == signal.SIGTSTP else 0)
        (folder / "end").touch()
        _, errors = process.communicate()
    assert "Traceback" not in errors, errors
    heard = {line for file in folder.glob("heard-*") for line in file.read_text().split()}
    code = process.returncode
    return Effect(128 - code if code < 0 else code, tuple(sorted(heard)))


@pytest.mark.parametrize("name", MPIS)
@pytest.mark.parametrize(
    "number",
    [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCONT, signal.SIGTSTP,
     signal.SIGWINCH, signal.SIGABRT, signal.SIGXCPU, signal.SIGSYS, signal.SIGTERM, signal.SIGINT,
     signal.SIGHUP, signal.SIGQUIT],
    ids=lambda number: number.name,
)  # fmt: skip
def test_signal_does_what_it_does_to_the_launcher(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    mpirun = MPIS[name].mpirun
    fairlead = [sys.executable, "-m", "fairlead", "run", "--mpirun", mpirun, "-H", "localhost:2"]

    plain = effect_of(number, [mpirun, "-n", "2"], tmp_path / "plain")
    ours = effect_of(number, [*fairlead, "-n", "2"], tmp_path / "ours")

    if table := os.environ.get("FAIRLEAD_SIGNAL_TABLE"):
        with Path(table).open("a") as stream:
            stream.write(f"| {name} | {number.name} | {plain} | {ours} |\n")
    assert ours.exit_code == plain.exit_code
    # Ranks of a launcher that the signal itself killed are ended, where the plain one leaves them.
    assert ours.heard == plain.heard or plain.exit_code == 128 + number
