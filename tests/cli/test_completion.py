# SPDX-License-Identifier: Apache-2.0
"""The shell completes commands and options, also those of commands that are loaded late."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("fairlead pro", ["probe"]),
        ("fairlead lab u", ["up"]),
        ("fairlead run --hostf", ["--hostfile"]),
    ],
)
def test_the_shell_completes(words: str, completed: list[str]) -> None:
    variables = {"_FAIRLEAD_COMPLETE": "complete_bash", "COMP_WORDS": words,
                 "COMP_CWORD": str(words.count(" "))}  # fmt: skip
    program = "from fairlead.cli import main; import sys; sys.argv[0] = 'fairlead'; main()"

    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.split() == completed, done.stderr
