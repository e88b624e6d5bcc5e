# SPDX-License-Identifier: Apache-2.0
"""A build that a benchmark or a test starts does not outlive it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.files.process_identity import start_ticks

FOLDER = Path(__file__).parents[3] / "bench" / "collectives"


def started(command: str, folder: Path) -> subprocess.Popen[bytes]:
    """A process that runs a command of a shell in a folder by `run_bound`."""
    # A starter with many open files: its next descriptor has two digits.
    files = "kept = [os.open('/dev/null', os.O_RDONLY) for _ in range(20)]"
    run = f"from bound_process import run_bound; run_bound(['sh', '-c', {command!r}])"
    paths = f"import sys, os; sys.path.insert(0, {str(FOLDER)!r}); os.chdir({str(folder)!r})"
    return subprocess.Popen([sys.executable, "-c", f"{paths}; {files}; {run}"])


def wait_until(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


@pytest.mark.parametrize("end", [subprocess.Popen.kill, subprocess.Popen.terminate])
def test_all_that_a_command_has_started_ends_with_its_starter(
    tmp_path: Path, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    file = tmp_path / "pid"
    with started("sleep 600 & echo $! > new && mv new pid; wait", tmp_path) as starter:
        wait_until(file.exists)
        pid = int(file.read_text())
        assert start_ticks(pid)
        end(starter)
    wait_until(lambda: not start_ticks(pid) or _is_zombie(pid))


def _is_zombie(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def test_a_command_ends_by_itself_with_its_code(tmp_path: Path) -> None:
    with started("touch made", tmp_path) as good:
        assert good.wait(60) == 0
    assert (tmp_path / "made").exists()
    with started("exit 3", tmp_path) as failed:
        assert failed.wait(60) == 1
