# SPDX-License-Identifier: Apache-2.0
"""Every command shows an example, speaks JSON, and distinguishes wrong usage from failures."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from fairlead import cli
from fairlead.cli import app, main, parsers
from fairlead.decide.search import default_budget_s


def commands() -> Iterator[list[str]]:
    """All commands of the app, those of a group one by one."""
    group = typer.main.get_group(app)
    context = group.context_class(group)
    for name in cli.COMMANDS:
        command = group.resolve_command(context, [name])[1]
        inner = getattr(command, "commands", None)
        yield from ([name, each] for each in inner) if inner else [[name]]


COMMANDS = list(commands())
GROUPS = sorted({command[0] for command in COMMANDS if len(command) > 1})


def test_all_commands_are_looked_at() -> None:
    listed = CliRunner().invoke(app, ["--help"]).output
    assert {command[0] for command in COMMANDS} == set(re.findall(r"^  ([a-z]+) ", listed, re.M))
    assert ["oracle", "serve"] in COMMANDS


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_an_example(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Example: fairlead" in result.output


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("command", [[], *([group] for group in GROUPS), *COMMANDS], ids=" ".join)
def test_help_leaves_room_for_text_and_fits(command: list[str], columns: int) -> None:
    said = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": str(columns)}).output
    lines = said.splitlines()
    assert max(map(len, lines)) <= columns
    # Where the text of options begins: that of --help, which all have.
    (last,) = [line for line in lines if line.startswith("  --help ")]
    assert columns - last.index("Show this") >= 50
    assert not re.search(r"INTEGER|TEXT|FLOAT|PATH|VALUE|<\w+>|[│╭]", said)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        *(("compare", []), ("trace", []), ("probe", [])),
        ("map", ["--cluster HOSTS", "--network FILE", "--traffic FILE"]),
        *(
            ("mpi add", ["--mpicxx PROGRAM"]),
            ("run", []),
            ("jobs map", ["--cluster HOSTS"]),
            ("jobs run", []),
        ),
    ],
)
def test_required_options_are_marked(command: str, options: list[str]) -> None:
    said = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "100"}).output
    rows = re.split(r"\n  (?=-)", said)
    assert [row.split("  ")[0] for row in rows if "Required." in row] == options


@pytest.mark.parametrize("command", ["compare", "probe"])
def test_a_budget_is_described_for_its_own_command(command: str) -> None:
    in_run, here = (
        " ".join(CliRunner().invoke(app, [name, "--help"]).output.split())
        for name in ("run", command)
    )
    assert "Maximum time for the probe. Default: no limit." in here
    assert "Maximum time for choosing the placement" in in_run


@pytest.mark.mpi
@pytest.mark.parametrize("command", ["run", "compare", "trace"])
@pytest.mark.parametrize("file", ["-machinefile", "--machinefile", "-hostfile", "-f"])
def test_hosts_and_ranks_may_be_spelled_as_mpiruns(command: str, file: str) -> None:
    result = CliRunner().invoke(app, [command, "-np", "2", file, "gone.txt", "true"])
    assert "gone.txt: hostfile cannot be read" in str(result.exception)
    both = CliRunner().invoke(app, [command, "-np", "2", "-H", "h0,h1", file, "gone.txt", "true"])
    assert both.exit_code == 2
    assert "does not go together with --hostfile" in both.stderr


@pytest.mark.parametrize("command", [["jobs", "run"], ["jobs", "map"], ["simulate"]])
def test_brackets_in_help_are_no_markup(command: list[str]) -> None:
    said = CliRunner().invoke(app, [*command, "--help"]).output
    assert "TOML file whose [machine] " in " ".join(said.split())


def test_defaults_and_groups_are_shown_in_plain_words() -> None:
    said = CliRunner().invoke(app, ["probe", "--help"], env={"COLUMNS": "80"}).output
    plain = " ".join(said.split())
    assert "The network:\n" in said
    assert said.index("Hosts and launcher:\n") < said.index("--hostfile") < said.index("Output:\n")
    assert "End the launcher after this time. Default: 120s (quick), 1800s (full)." in plain
    assert "File to write. Default: network.net.npz." in plain
    assert "1 KiB only, which is fast. Default: --quick." in plain
    assert "[default" not in said


def test_an_example_is_broken_so_that_it_can_be_copied() -> None:
    said = CliRunner().invoke(app, ["map", "--help"], env={"COLUMNS": "80"}).output
    example = said[said.index("Example: ") :].removeprefix("Example: ")
    words = shlex.split(example.replace("\\\n", ""))
    assert words[:2] == ["fairlead", "map"]
    assert words[-2:] == ["--format", "seq"]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_list_of_commands_says_of_each_what_its_own_help_does(name: str) -> None:
    said = " ".join(CliRunner().invoke(app, [name, "--help"]).output.split())
    assert cli.COMMANDS[name] in said


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_the_list_of_commands_loads_none_of_them(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "fairlead", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "fairlead.cli" in loaded
    assert not {"numpy", "scipy", "pydantic", "pyroute2", "fairlead.cli.map"} & loaded


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_speaks_json_unless_it_passes_output_through(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    passes_output_through = command in (["lab", "exec"], ["lab", "run"])
    # Services answer only those that call them; a dashboard is JSON itself.
    has_no_facts = command in (
        ["oracle", "serve"],
        ["oracle", "dashboard"],
        ["relay", "serve"],
    )
    assert ("--json" in result.output) != (passes_output_through or has_no_facts)


def test_blanks_between_names_of_methods_are_left_out() -> None:
    assert parsers.several_of(["a", "b"])("a, b ") == "a,b"


def test_demo_looks_for_the_folder_of_its_report_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fairlead", "demo", "-o", "no/where/x.html"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    assert "no/where/x.html: cannot be written: there is no folder" in capsys.readouterr().err


def test_an_error_of_the_system_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    with pytest.raises(SystemExit) as left:
        main(fail)
    assert left.value.code == 1
    assert capsys.readouterr().err == "fairlead: [Errno 13] Permission denied: 'somewhere'\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "-n", "2", "--budget", "2", "--", "x"],
        ["run", "-n", "2", "--method", "magic", "--", "x"],
        ["probe", "--nonsense"],
        ["probe", "--hostfile", "hosts", "--silence-timeout", "3"],
        ["compare", "-n", "0", "--", "x"],
        ["compare", "-n", "2", "--methods", "scotch,magic", "--", "x"],
        ["demo", "-n", "0"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_help_of_run_tells_the_budget_that_it_has_by_default() -> None:
    result = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"})
    for num_hosts in (8, 32):
        assert f"{default_budget_s(num_hosts):.1f}s for {num_hosts}" in result.output
