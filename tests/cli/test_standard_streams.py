# SPDX-License-Identifier: Apache-2.0
"""Commands whose standard streams are closed, or have an encoding without some characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl


def run_with(redirection: str, folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """As a shell starts it with this redirection."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, *argv],
        env={**os.environ, "XDG_STATE_HOME": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_command_without_standard_output_ends_well(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    done = run_with(">&-", tmp_path, "-m", "fairlead", "runs", *options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [{0}, {1}, {0, 1, 2}])
def test_no_file_that_is_opened_becomes_a_standard_stream_of_a_program(
    closed: set[int], tmp_path: Path
) -> None:
    found = tmp_path / "found"
    script = (
        "import os, subprocess\n"
        "from fairlead.cli.standard_streams import prepare_streams\n"
        "prepare_streams()\n"
        f"opened = open({str(found)!r}, 'w')\n"
        "look = 'for n in 0 1 2; do a=$(readlink /proc/$$/fd/$n); echo $a >&9; done'\n"
        "subprocess.run(['sh', '-c', look], pass_fds=(os.dup2(opened.fileno(), 9),))\n"
    )
    redirection = " ".join("<&-" if number == 0 else f"{number}>&-" for number in sorted(closed))
    assert run_with(redirection, tmp_path, "-c", script).returncode == 0
    names = found.read_text().splitlines()
    assert [names[number] for number in sorted(closed)] == [os.devnull] * len(closed)
    assert str(found) not in names


def test_output_has_a_form_for_what_the_locale_lacks(tmp_path: Path) -> None:
    file = tmp_path / "a.net.npz"
    fl.Network(["h0", "h1"], 5e-6 * (1 - np.eye(2)), np.full((2, 2), 1e8)).save(file)
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "fairlead", "show", file], env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u2013   100" in done.stdout
