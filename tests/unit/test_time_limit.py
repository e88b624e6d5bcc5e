# SPDX-License-Identifier: Apache-2.0
"""What tests/conftest.py promises of every test, tried on test sessions of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

# Waits for ever for processes: one that it leaves behind, one that has left its session and lost
# its parent, and one whose environment is empty.
ENDLESS = """
import subprocess

def test_endless():
    script = '(setsid ./sleeper 3000 & env -i ./sleeper 3000 & ./sleeper 3000) & ./sleeper 3000'
    with subprocess.Popen(['sh', '-c', script]) as process:
        process.wait()

def test_next():
    pass
"""

INTERRUPTED = """
import subprocess

def test_signals_are_not_ignored():
    for name in ('INT', 'HUP', 'QUIT'):
        shell = subprocess.run(['sh', '-c', f'kill -{name} $$; echo alive'], stdout=subprocess.PIPE)
        assert shell.stdout == b''
"""


def session(folder: Path, tests: str, *options: str, shell: str = "") -> tuple[int, str]:
    """Exit code and output of pytest on a file of tests, started by a shell."""
    (folder / "test_own.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", *options, "test_own.py"]
    done = subprocess.run(
        ["sh", "-c", f'{shell} exec "$@"', "sh", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def processes_in(folder: Path) -> list[int]:
    """Processes whose current folder it is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def test_test_that_runs_out_of_time_ends_what_it_started_and_the_next_one_runs(
    tmp_path: Path,
) -> None:
    (tmp_path / "sleeper").symlink_to("/bin/sleep")

    returncode, output = session(tmp_path, ENDLESS, "--timeout=3")

    assert returncode == 1
    assert "1 failed, 1 passed" in output
    assert "Timeout" in output
    assert processes_in(tmp_path) == []


def test_programs_find_the_default_signals_where_the_tests_were_started_without(
    tmp_path: Path,
) -> None:
    returncode, output = session(tmp_path, INTERRUPTED, shell="trap '' INT HUP QUIT;")

    assert (returncode, "1 passed" in output) == (0, True), output


def test_tests_stay_deaf_to_signals_that_were_ignored(tmp_path: Path) -> None:
    tests = "import os, signal\ndef test_it():\n    os.kill(os.getpid(), signal.SIGHUP)\n"

    returncode, output = session(tmp_path, tests, shell="trap '' HUP;")

    assert (returncode, "1 passed" in output) == (0, True), output
