# SPDX-License-Identifier: Apache-2.0
"""What files hold reaches the terminal as text only, and limits are named with their remedy."""

from __future__ import annotations

import errno
import io
import re
import resource
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

import fairlead as fl
from fairlead.act.launch.open_files import explain_lack_of_files
from fairlead.cli import app, main
from fairlead.cli.output import stderr, stdout
from fairlead.errors import LaunchError

HOSTILE = "h\x1b]0;owned\x9b2J\u202e0"
SHOWN = r"h\x1b]0;owned\x9b2J\u202e0"


def test_host_names_command_nothing_in_any_view(tmp_path: Path) -> None:
    file = tmp_path / "a.net.npz"
    hosts = [HOSTILE, "h1"]
    fl.Network(hosts, 1e-4 * (1 - np.eye(2)), np.full((2, 2), 1e8)).save(file)
    said = CliRunner().invoke(app, ["show", str(file)], color=True).stdout
    assert SHOWN in said
    assert "\x1b]" not in said
    assert not re.search("[\x9b\u202e]", said)


@pytest.mark.parametrize("console", [stdout, stderr])
def test_colours_stay_while_text_is_escaped(console: Console) -> None:
    table = Table("a", width=90)
    table.add_row(Text(HOSTILE, style="bold red"))
    shown = io.StringIO()
    same = type(console)(file=shown, force_terminal=True, color_system="standard", highlight=False)
    same.print(table, HOSTILE)
    assert shown.getvalue().count(SHOWN) == 2
    assert "\x1b[1;31m" in shown.getvalue()
    assert "\x1b]" not in shown.getvalue()


def failed_with(error: Exception, capsys: pytest.CaptureFixture[str]) -> str:
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit):
        main(fail)
    return capsys.readouterr().err


def test_an_error_commands_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    said = failed_with(fl.InputError(f"host {HOSTILE}"), capsys)
    assert said == f"fairlead: host {SHOWN}\n"


def test_a_lack_of_open_files_names_limit_and_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lack = OSError(errno.EMFILE, "Too many open files")
    caused = LaunchError("ssh: cannot be started")
    caused.__cause__ = lack
    for error in (lack, caused):
        said = failed_with(error, capsys)
        assert f"at most {limit} files may be open: raise that by ulimit -n {4 * limit}" in said
    assert "ulimit" not in failed_with(OSError(errno.ENOSPC, "full"), capsys)


def test_a_low_limit_is_reported_for_many_hosts() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        assert "at most 256 files may be open" in explain_lack_of_files(600)
        assert "ulimit -n 2464" in explain_lack_of_files(600)
        assert explain_lack_of_files(8) == ""
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
