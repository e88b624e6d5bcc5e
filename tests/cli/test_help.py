# SPDX-License-Identifier: Apache-2.0
"""Every command explains itself by an example, speaks JSON, and tells wrong usage from failure."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from fairlead.cli import app

COMMANDS = [
    *(
        ["demo"],
        ["run"],
        ["compare"],
        ["probe"],
        ["trace"],
        ["map"],
        ["simulate"],
        ["show"],
        ["report"],
        ["advise"],
    ),
    *(["mpi", "list"], ["mpi", "add"]),
    *(["lab", name] for name in ("up", "exec", "run", "degrade", "down", "list")),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Example: fairlead" in result.output


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_speaks_json_unless_it_passes_output_through(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    passes_output_through = command in (["lab", "exec"], ["lab", "run"])
    assert ("--json" in result.output) != passes_output_through


@pytest.mark.parametrize(
    "arguments", [["run"], ["probe", "--nonsense"], ["compare", "-n", "0", "--", "x"], ["nonsense"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2
