# SPDX-License-Identifier: Apache-2.0
"""Kinds of options that several commands have, each with its parser and its place in the help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from fairlead.cli.help import HOSTS, MODEL, OUTPUT, PLACING, listed
from fairlead.cli.parsers import one_of, part_of_all, usage
from fairlead.units import parse_duration

__all__ = ["cluster", "duration", "file", "method", "name", "num_ranks", "output", "scale"]


def duration(meaning: str, group: str, default: bool | str = True) -> Any:
    """An option that is a time, for example 10s."""
    return typer.Option(
        parser=usage(parse_duration),
        metavar="TIME",
        rich_help_panel=group,
        show_default=default,
        help=meaning,
    )


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
    return typer.Option(
        parser=usage(one_of(names)),
        metavar=metavar,
        rich_help_panel=group,
        show_default=default,
        help=meaning,
    )


def method(methods: Mapping[str, Any]) -> Any:
    """The option --method of a command that lists its methods, each with its `summary`."""
    return name(methods, f"One of{listed(methods)}", PLACING)


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
    return typer.Option(
        parser=part_of_all,
        metavar="NUMBER",
        rich_help_panel=MODEL,
        show_default=default,
        help=meaning,
    )


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
