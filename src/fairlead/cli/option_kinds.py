# SPDX-License-Identifier: Apache-2.0
"""Kinds of options that several commands have, each with its parser and its place in the help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import typer

from fairlead.cli.help import HOSTS, MODEL, OUTPUT, PLACING, list_names
from fairlead.cli.parsers import one_of, part_of_all, usage
from fairlead.units import parse_duration

__all__ = [
    "cluster",
    "duration",
    "file",
    "method",
    "name",
    "num_ranks",
    "option_of",
    "output",
    "scale",
    "whole_number",
]


def option_of(
    parser: Callable[[str], Any],
    metavar: str,
    meaning: str,
    group: str | None,
    default: bool | str = True,
) -> Any:
    """An option whose text is read by a parser; what that refuses is wrong usage.

    Args:
        parser: Parser of the text; raises `InputError`.
        metavar: What stands for the text in the help.
        meaning: One sentence.
        group: Its place in the help; None for the general one.
        default: Whether the default is shown, or what is shown for it.
    """
    return typer.Option(
        parser=usage(parser),
        metavar=metavar,
        rich_help_panel=group,
        show_default=default,
        help=meaning,
    )


def whole_number(meaning: str, group: str, default: bool | str = True, *, least: int = 1) -> Any:
    """An option that is a whole number."""
    return typer.Option(
        min=least, metavar="N", rich_help_panel=group, show_default=default, help=meaning
    )


def duration(meaning: str, group: str | None, default: bool | str = True) -> Any:
    """An option that is a time, for example 10s."""
    return option_of(parse_duration, "TIME", meaning, group, default)


def file(meaning: str, group: str) -> Any:
    """An option that names a file to read."""
    return typer.Option(metavar="FILE", rich_help_panel=group, help=meaning)


def name(
    names: Iterable[str],
    meaning: str,
    group: str,
    default: bool | str = True,
    *,
    metavar: str = "NAME",
) -> Any:
    """An option that is one of these names."""
    return option_of(one_of(names), metavar, meaning, group, default)


def method(methods: Mapping[str, Any]) -> Any:
    """The option --method of a command that lists its methods, each with its `summary`."""
    return name(methods, f"One of{list_names(methods)}", PLACING)


def num_ranks(meaning: str) -> Any:
    """The option -n."""
    return typer.Option("-n", "--np", min=1, metavar="N", rich_help_panel=HOSTS, help=meaning)


def cluster() -> Any:
    """The option --cluster, which `parse_cluster` reads."""
    return typer.Option(
        "--cluster",
        metavar="HOSTS",
        rich_help_panel=HOSTS,
        help="A hostfile, or hosts and slots: h0:4,h1:4.",
    )


def scale(meaning: str, default: bool | str = True) -> Any:
    """The option --scale of a command that simulates messages."""
    return option_of(part_of_all, "NUMBER", meaning, MODEL, default)


def output(meaning: str, default: bool | str = True, *, metavar: str = "FILE") -> Any:
    """The option -o of a command that writes a file or a folder."""
    return typer.Option(
        "-o",
        "--output",
        metavar=metavar,
        rich_help_panel=OUTPUT,
        show_default=default,
        help=meaning,
    )
