# SPDX-License-Identifier: Apache-2.0
"""A signal before the launcher has started does nothing, or ends the command quietly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.mpi]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_that_an_import_would_drop_ends_the_command_after_it(
    number: signal.Signals, tmp_path: Path
) -> None:
    """As modules do that are initialised in C."""
    (tmp_path / "dropping.py").write_text(f"""
import importlib, os
from fairlead.cli import main
def load(name, *more, **options):
    try:
        if name == "fairlead.cli.runs":
            os.kill(os.getpid(), {int(number)})
    except BaseException:
        pass
    return real(name, *more, **options)
real, importlib.import_module = importlib.import_module, load
main()
""")
    done = subprocess.run(
        [sys.executable, "dropping.py", "runs"], cwd=tmp_path, check=False, capture_output=True,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path)}, text=True,
    )  # fmt: skip
    assert done.returncode == 128 + number, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("imported", "number", "code"),
    [
        # Before the command line is there, as any program.
        ("fairlead.cli.quiet_start", signal.SIGINT, -signal.SIGINT),
        ("fairlead.cli.quiet_start", signal.SIGUSR1, -signal.SIGUSR1),
        # While the command is being loaded.
        ("numpy", signal.SIGINT, 130),
        ("numpy", signal.SIGTERM, 143),
        ("numpy", signal.SIGUSR1, 0),
        ("numpy", signal.SIGALRM, 0),
        ("numpy", signal.SIGWINCH, 0),
    ],
)
def test_signal_before_the_launcher_leaves_no_traceback(
    imported: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    homes = {name: str(tmp_path / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    # Python prints a line when a module has been imported.
    env = os.environ | homes | {"PYTHONPROFILEIMPORTTIME": "1", "FAIRLEAD_MPIRUN": "mpirun.mpich"}
    command = [sys.executable, "-m", "fairlead", "run", "-n", "1", "-H", "localhost", "true"]
    with subprocess.Popen(
        command, env=env, cwd=tmp_path, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == imported:
                break
        process.send_signal(number)
        rest = process.stderr.read()

    # Python ends by the signal itself where that interrupted `exec`, as dataclasses call it.
    codes = {code, -number} if number == signal.SIGINT else {code}
    assert process.returncode in codes, rest
    assert "Traceback" not in rest
