# SPDX-License-Identifier: Apache-2.0
"""Options in the launchers' own spellings: `-np 8`, `-machinefile hosts`, `-x VAR`, `--mca A B`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from fairlead.act.launch import PLACING_OPTIONS
from fairlead.cli.help import HelpCommand
from fairlead.flows.request import RELAY_MODES

__all__ = ["ProgramCommand", "SpelledCommand", "in_our_spelling"]

_OURS = {
    **dict.fromkeys(("np", "n", "c"), "-n"),
    **dict.fromkeys(("hostfile", "machinefile", "machine", "f", "default-hostfile"), "--hostfile"),
    **dict.fromkeys(("host", "hosts"), "--host"),
}
"""Spellings of Open MPI, MPICH and the standard's mpiexec, without dashes."""

_LAUNCHER_ARGS = "--launcher-args"

_BARE: dict[str, tuple[str, tuple[str, ...], str]] = {
    "--relay": ("--relay", RELAY_MODES, "always"),
    "--no-relay": ("--relay", (), "never"),
}
"""Options whose value may be left out: their own name, the values, and what stands for none."""

_NUM_VALUES = {
    **PLACING_OPTIONS,
    **dict.fromkeys(("mca", "gmca", "prtemca", "pmixmca", "genv", "env"), 2),
    **dict.fromkeys(("x", "tune", "am", "bind-to", "cpu-set", "cpus-per-proc", "display"), 1),
    **dict.fromkeys(("output", "output-filename", "xterm", "stdin", "wdir", "wd", "path"), 1),
    **dict.fromkeys(("prefix", "genvlist", "envlist", "launcher", "launcher-exec", "rmk"), 1),
    **dict.fromkeys(("bootstrap", "bootstrap-exec", "iface"), 1),
    **dict.fromkeys(("oversubscribe", "nooversubscribe", "use-hwthread-cpus", "tag-output"), 0),
    **dict.fromkeys(("report-bindings", "display-map", "display-allocation", "verbose", "v"), 0),
    **dict.fromkeys(("timestamp-output", "merge-stderr-to-stdout", "allow-run-as-root"), 0),
    **dict.fromkeys(("enable-recovery", "genvall", "genvnone", "envall", "envnone", "l"), 0),
    **dict.fromkeys(("prepend-rank", "print-rank-map", "disable-auto-cleanup", "quiet", "q"), 0),
    **dict.fromkeys(("omca", "gprtemca", "gpmixmca"), 2),
    **dict.fromkeys(("timeout", "with-ft", "preload-files", "max-restarts", "ompi-server"), 1),
    **dict.fromkeys(("leave-session-attached", "debug-daemons", "no-oversubscribe", "novm"), 0),
    **dict.fromkeys(("display-devel-map", "display-topo", "get-stack-traces"), 0),
    **dict.fromkeys(("report-state-on-timeout", "do-not-launch"), 0),
    **dict.fromkeys(("outfile-pattern", "errfile-pattern", "prepend-pattern", "membind"), 1),
    **dict.fromkeys(("topolib", "nameserver", "usize", "localhost", "gpus-per-proc", "demux"), 1),
    **dict.fromkeys(("print-all-exitcodes", "disable-hostname-propagation", "info"), 0),
    **dict.fromkeys(("skip-launch-node", "pmi-port"), 0),
}
"""Options that are passed on to the launcher, without dashes, and how many values follow each.

Sources: mpirun(1) of Open MPI 4.1.4 and 5.0.11, `mpiexec --help` of MPICH 4.0.2.
"""


_ONE_WITH_EQUALS = {"genv", "env"}
"""Hydra takes NAME=VALUE as well as NAME VALUE."""


class SpelledCommand(HelpCommand):
    """A command that takes the launchers' spellings of options, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; without interspersed ones, what follows the program is its own."""
        parameters: list[Any] = self.get_params(ctx)
        takes_value = {
            name: not each.is_flag
            for each in parameters
            if each.param_type_name == "option"
            for name in (*each.opts, *each.secondary_opts)
        }
        spelled = in_our_spelling(args, takes_value, ends_at_word=not self.allow_interspersed_args)
        return super().parse_args(ctx, spelled)


class ProgramCommand(SpelledCommand):
    """A command that starts a program as mpirun does."""

    allow_interspersed_args = False


def in_our_spelling(
    words: Sequence[str], takes_value: Mapping[str, bool], *, ends_at_word: bool = True
) -> list[str]:
    """The words with options of the launchers written as Fairlead's.

    What only the launcher has becomes part of --launcher-args, where the command has that option.

    Args:
        words: The command line.
        takes_value: Fairlead's options by their names: whether a value follows.
        ends_at_word: Whether options end at the first word that is none, the program.

    Raises:
        BadParameter: The option is for the launcher, but this command passes none on or places the
            ranks itself.
    """
    left = list(words)
    place_of: dict[str, int] = {}
    ours: list[str] = []
    for_launcher: list[str] = []
    while left and left[0] != "--":
        if ends_at_word and not _is_option(left[0]):
            break
        word = left.pop(0)
        if not _is_option(word):
            ours.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in takes_value:
            name = _translate(name, takes_value)
        if name in _BARE and not equals:
            option, allowed, bare = _BARE[name]
            if option in takes_value:
                ours += [option, left.pop(0) if left and left[0] in allowed else bare]
                continue
        num_values = 0 if equals else _num_values(name, takes_value)
        if num_values == 2 and name.lstrip("-") in _ONE_WITH_EQUALS and "=" in "".join(left[:1]):
            num_values = 1
        values, left = left[:num_values], left[num_values:]
        if name == _LAUNCHER_ARGS and (equals or values):
            for_launcher.append(value if equals else values[0])
        elif _is_for_launcher(name, takes_value):
            for_launcher.append(shlex.join([word, *values]))
        else:
            words_of_option = [f"{name}{equals}{value}", *values]
            if not _is_joined(ours, place_of, name, words_of_option):
                ours += words_of_option
    if for_launcher:
        ours += [_LAUNCHER_ARGS, " ".join(for_launcher)]
    return ours + left


def _is_joined(ours: list[str], place_of: dict[str, int], name: str, words: Sequence[str]) -> bool:
    """Whether a list of hosts was added to one that came before.

    Open MPI 4 and 5 take lists that are given apart for one, and refuse a second hostfile; the
    last option alone would count otherwise.

    Args:
        ours: The words so far.
        place_of: Where the first list and file end among them.
        name: The option.
        words: It, and its value.

    Raises:
        BadParameter: It is a second hostfile.
    """
    option = "--host" if name == "-H" else name
    if option not in ("--host", "--hostfile"):
        return False
    if option not in place_of:
        place_of[option] = len(ours) + len(words) - 1
        return False
    if option == "--hostfile":
        raise typer.BadParameter("is given twice; name one file", param_hint=option)
    ours[place_of[option]] += "," + (words[1] if words[1:] else words[0].partition("=")[2])
    return True


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _is_for_launcher(name: str, takes_value: Mapping[str, bool]) -> bool:
    return name not in takes_value and name.lstrip("-") in _NUM_VALUES


def _num_values(name: str, takes_value: Mapping[str, bool]) -> int:
    if _is_for_launcher(name, takes_value):
        return _NUM_VALUES[name.lstrip("-")]
    return int(takes_value.get(name, False))


def _translate(name: str, takes_value: Mapping[str, bool]) -> str:
    bare = name.lstrip("-")
    if bare in ("app", "configfile"):
        raise typer.BadParameter(
            "starts several programs (MPMD), which Fairlead does not support", param_hint=name
        )
    if _OURS.get(bare) in takes_value:
        return _OURS[bare]
    if bare in _NUM_VALUES and _LAUNCHER_ARGS not in takes_value:
        raise typer.BadParameter(
            "this is the launcher's, which this command does not start", param_hint=name
        )
    return name
