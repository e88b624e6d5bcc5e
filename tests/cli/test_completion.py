# SPDX-License-Identifier: Apache-2.0
"""The shell completes commands and options, also those of commands that are loaded late."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fairlead.cli import shell_completion


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


def ask(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command without the user's shell."""
    program = "from fairlead.cli import main; import sys; sys.argv[0] = 'fairlead'; main()"
    environment = {name: value for name, value in os.environ.items() if name != "SHELL"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**environment, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_is_that_of_the_shell_that_is_named(shell: str) -> None:
    done = ask("--show-completion", shell)

    assert done.returncode == 0, done.stderr
    assert f"complete_{shell}" in done.stdout
    assert "_FAIRLEAD_COMPLETE" in done.stdout


def test_a_shell_without_completion_is_one_line_that_says_what_to_name() -> None:
    done = ask("--show-completion", "dash")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "fairlead: --show-completion: 'dash' has no completion; name one: "
        "--show-completion bash|zsh|fish|powershell|pwsh\n"
    )


@pytest.mark.parametrize(
    ("found", "variable", "expected"),
    [("zsh", "/bin/bash", "zsh"), ("dash", "/bin/fish", "fish"), (None, "/bin/zsh", "zsh")],
)
def test_without_a_name_it_is_the_shell_it_was_started_from_or_the_users(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    found: str | None, variable: str, expected: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(shell_completion, "_get_shell_name", lambda: found)
    monkeypatch.setenv("SHELL", variable)

    assert shell_completion.give_completion(["--show-completion"]) == 0
    assert f"complete_{expected}" in capsys.readouterr().out


def test_where_no_shell_is_known_it_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shell_completion, "_get_shell_name", lambda: None)
    monkeypatch.delenv("SHELL", raising=False)

    assert shell_completion.give_completion(["--install-completion"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("fairlead: --install-completion: no shell is known from here; name")
    assert said.err.count("\n") == 1
