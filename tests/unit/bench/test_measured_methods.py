# SPDX-License-Identifier: Apache-2.0
"""bench/cloudmap/measured.py knows its methods by names with the metric, and says so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def measured(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "bench" / "cloudmap" / "measured.py", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_an_unknown_method_is_refused_with_the_known_names() -> None:
    done = measured("--method", "scotch")

    assert done.returncode == 2
    assert "--method: invalid choice: 'scotch'" in done.stderr
    assert "scotch, bytes" in done.stderr


@pytest.mark.parametrize("name", ["scotch, messages", "optimize", "optimize, bytes"])
def test_a_known_method_is_accepted(name: str) -> None:
    assert measured("--method", name, "--help").returncode == 0


def test_the_recorded_results_come_from_commands_that_it_accepts() -> None:
    results = (ROOT / "docs" / "reference" / "results" / "placement.md").read_text()
    commands = re.findall(r"`bench/cloudmap/measured\.py ([^`]*--method[^`]*)`", results)

    assert commands
    for words in commands:
        done = measured(*shlex.split(words), "--help")
        assert done.returncode == 0, done.stderr
