# SPDX-License-Identifier: Apache-2.0
"""Options in the launchers' own spellings: `-np 8`, `-H h0,h1`, `-machinefile hosts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from fairlead.cli.help import HelpCommand

__all__ = ["ProgramCommand", "SpelledCommand", "in_our_spelling"]

_OURS = {
    **dict.fromkeys(("np", "n", "c"), "-n"),
    **dict.fromkeys(("hostfile", "machinefile", "machine", "f"), "--hostfile"),
    **dict.fromkeys(("host", "hosts"), "--host"),
}
"""Spellings of Open MPI, MPICH and the standard's mpiexec, without dashes."""

_PLACING = frozenset(
    {"map-by", "mapby", "rank-by", "bynode", "byslot", "by-node", "by-slot", "rf", "rankfile"}
    | {"N", "npernode", "npersocket", "ppr", "ppn", "perhost", "order-nodes"}
)
_LAUNCHERS = frozenset(
    {"mca", "gmca", "prtemca", "pmixmca", "tune", "am", "x", "bind-to", "cpu-set", "cpus-per-proc"}
    | {"oversubscribe", "nooversubscribe", "use-hwthread-cpus", "report-bindings", "display-map"}
    | {"display", "display-allocation", "tag-output", "timestamp-output", "output", "xterm"}
    | {"output-filename", "merge-stderr-to-stdout", "stdin", "wdir", "wd", "path", "prefix"}
    | {"allow-run-as-root", "enable-recovery", "genv", "genvlist", "genvall", "genvnone", "env"}
    | {"envlist", "envall", "envnone", "launcher", "launcher-exec", "rmk", "iface", "prepend-rank"}
    | {"print-rank-map", "disable-auto-cleanup", "q", "quiet", "v", "verbose"}
)


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

    Args:
        words: The command line.
        takes_value: Fairlead's options by their names: whether a value follows.
        ends_at_word: Whether options end at the first word that is none, the program.

    Raises:
        BadParameter: Only the launcher has this option; the message says which one to use.
    """
    left = list(words)
    ours: list[str] = []
    while left and left[0] != "--":
        word = left.pop(0)
        if word == "-" or not word.startswith("-"):
            if ends_at_word:
                return [*ours, word, *left]
            ours.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in takes_value:
            name = _translated(name, takes_value)
        ours.append(f"{name}{equals}{value}")
        if takes_value.get(name) and not equals:
            ours += left[:1]
            del left[:1]
    return ours + left


def _translated(name: str, takes_value: Mapping[str, bool]) -> str:
    bare = name.lstrip("-")
    if _OURS.get(bare) in takes_value:
        return _OURS[bare]
    if bare in _PLACING:
        raise typer.BadParameter(
            "leave it out: Fairlead chooses where each rank runs; --method selects how",
            param_hint=name,
        )
    if bare in _LAUNCHERS:
        raise typer.BadParameter(
            f"this is the launcher's: pass it by --launcher-args '{name} ...'",
            param_hint=name,
        )
    return name
