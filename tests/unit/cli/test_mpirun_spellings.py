# SPDX-License-Identifier: Apache-2.0
"""What users of mpirun type is understood, or the right option is named."""

from __future__ import annotations

import shlex

import pytest
import typer

from fairlead.cli.mpirun_spellings import in_our_spelling

TAKES_VALUE = {"-n": True, "--np": True, "--hostfile": True, "-H": True, "--host": True,
               "--launcher-args": True, "--json": False, "--relay": True}  # fmt: skip


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("-np 8 ./a", "-n 8 ./a"),
        ("--n 8 ./a", "-n 8 ./a"),
        ("-c 8 ./a", "-n 8 ./a"),
        ("-n 8 -H h0,h1:4 ./a", "-n 8 -H h0,h1:4 ./a"),
        ("-host h0 -np 2 ./a", "--host h0 -n 2 ./a"),
        ("-hosts h0,h1 ./a", "--host h0,h1 ./a"),
        ("--host=h0 ./a", "--host=h0 ./a"),
        ("-H h0:2 -H h1:2 ./a", "-H h0:2,h1:2 ./a"),
        ("-host h0 -n 2 --host=h1 -hosts h2,h3 ./a", "--host h0,h1,h2,h3 -n 2 ./a"),
        ("--host=h0 -H h1 ./a -H x", "--host=h0,h1 ./a -H x"),
        ("-machinefile f ./a", "--hostfile f ./a"),
        ("--machinefile f ./a", "--hostfile f ./a"),
        ("--default-hostfile f ./a", "--hostfile f ./a"),
        ("-hostfile f ./a", "--hostfile f ./a"),
        ("-f f ./a", "--hostfile f ./a"),
        ("--json -np 8 -- ./a", "--json -n 8 -- ./a"),
        ("--help", "--help"),
        ("-np", "-n"),
        ("--relay ./a", "--relay always ./a"),
        ("--relay -np 2 ./a", "--relay always -n 2 ./a"),
        ("--relay -- auto", "--relay always -- auto"),
        ("--relay auto ./a", "--relay auto ./a"),
        ("--relay=never ./a", "--relay=never ./a"),
        ("--no-relay ./a", "--relay never ./a"),
        ("--relay", "--relay always"),
    ],
)
def test_spellings_of_all_launchers_are_ours(theirs: str, ours: str) -> None:
    assert in_our_spelling(theirs.split(), TAKES_VALUE) == ours.split()


@pytest.mark.parametrize("before", ["-np 2 ./a", "-np 2 -- ./a", "-np 2 --"])
def test_what_follows_the_program_is_its_own(before: str) -> None:
    own = ["-np", "8", "--map-by", "x", "-x", "--mca"]
    assert in_our_spelling([*before.split(), *own], TAKES_VALUE)[-len(own) :] == own


def test_without_a_program_options_may_stand_on_either_side_of_a_word() -> None:
    words = ["-machinefile", "f", "jobs.toml", "-host", "h0", "--", "-np"]
    ours = ["--hostfile", "f", "jobs.toml", "--host", "h0", "--", "-np"]
    assert in_our_spelling(words, TAKES_VALUE, ends_at_word=False) == ours


def test_a_second_hostfile_is_refused_as_open_mpi_does() -> None:
    with pytest.raises(typer.BadParameter, match="given twice; name one file"):
        in_our_spelling(["-machinefile", "a", "--hostfile=b", "./a"], TAKES_VALUE)


def test_a_value_is_never_taken_for_an_option() -> None:
    words = ["--launcher-args", "-np 3", "--hostfile", "--mca", "./a"]
    ours = ["--hostfile", "--mca", "--launcher-args", "-np 3", "./a"]
    assert in_our_spelling(words, TAKES_VALUE) == ours


@pytest.mark.parametrize(
    ("theirs", "passed"),
    [
        ("-x A=1 -np 2 --mca btl tcp,self ./a -x B", "-x A=1 --mca btl tcp,self"),
        ("-genv A 1 -env B 2 -n 2 ./a -genv", "-genv A 1 -env B 2"),
        ("-genv A=1 -env B=2 -n 2 ./a -genv", "-genv A=1 -env B=2"),
        ("--bind-to core --report-bindings -n 2 ./a", "--bind-to core --report-bindings"),
        ("--oversubscribe --launcher-args '-x A' -x B ./a", "--oversubscribe -x A -x B"),
        ("--display=map -l -- ./a", "--display=map -l"),
        ("--map-by slot:PE=2 -bynode -ppn 2 ./a", "--map-by slot:PE=2 -bynode -ppn 2"),
        ("-pernode -nolocal -n 2 ./a", "-pernode -nolocal"),
        ("--timeout 60 --omca a b --with-ft mpi ./a", "--timeout 60 --omca a b --with-ft mpi"),
        (
            "-outfile-pattern o.%r -print-all-exitcodes ./a",
            "-outfile-pattern o.%r -print-all-exitcodes",
        ),
    ],
)
def test_what_only_the_launcher_has_is_passed_on_in_its_order(theirs: str, passed: str) -> None:
    ours = in_our_spelling(shlex.split(theirs), TAKES_VALUE)
    at = ours.index("--launcher-args")
    assert ours[at + 1] == passed
    program = shlex.split(theirs)[shlex.split(theirs).index("./a") :]
    assert ours[at + 2 :] in (program, ["--", *program])


def test_a_passed_value_keeps_its_spaces() -> None:
    ours = in_our_spelling(["-x", "A=two words", "./a"], TAKES_VALUE)
    assert shlex.split(ours[1]) == ["-x", "A=two words"]


def test_a_command_without_launcher_refuses_its_options() -> None:
    with pytest.raises(typer.BadParameter, match="which this command does not start"):
        in_our_spelling(["--mca", "a", "b"], {"--json": False})


def test_an_option_that_a_command_does_not_have_stays_as_it_is() -> None:
    assert in_our_spelling(["-H", "h0", "x"], {"--hostfile": True}) == ["-H", "h0", "x"]


@pytest.mark.parametrize("option", ["--app", "-app", "-configfile"])
def test_a_file_of_several_programs_is_refused_by_its_reason(option: str) -> None:
    with pytest.raises(typer.BadParameter, match="several programs"):
        in_our_spelling([option, "programs.txt"], TAKES_VALUE)
