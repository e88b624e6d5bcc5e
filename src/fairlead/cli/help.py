# SPDX-License-Identifier: Apache-2.0
"""The help of every command: plain text in two columns, options grouped by topic."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from fairlead.cli.option_groups import with_single_options

__all__ = ["App", "HelpCommand", "HelpGroup", "list_names"]

GROUPS = (
    HOSTS := "Hosts and launcher",
    NETWORK := "The network",
    TRAFFIC := "The traffic",
    PLACING := "Placing the ranks",
    TUNING := "Tuning collectives",
    RELAYS := "Relaying large messages",
    MODEL := "What is simulated",
    OUTPUT := "Output",
    OTHERS := "Options",
)
"""Groups of options, in this order; each option names one as its panel, or is in the last one."""

_MOST_COLUMNS = 100
_LEAST_COLUMNS = 40
_NAME_COLUMNS = 26
"""Longer names get a line of their own."""

Function = TypeVar("Function", bound=Callable[..., Any])

Row = tuple[str, str]
"""A term and its explanation."""


class HelpCommand(TyperCommand):
    """A command with this help."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage after the command's name."""
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        return ["[OPTIONS]", *map(_usage, arguments)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, arguments, options, and the example."""
        _write(self, ctx, formatter, self.sections(ctx))

    def sections(self, ctx: Any) -> dict[str, list[Row]]:
        """The arguments, then the options of each group; empty groups too."""
        options: dict[str, list[Row]] = {group: [] for group in GROUPS}
        parameters: list[Any] = self.get_params(ctx)
        for option in parameters:
            if option.param_type_name == "option":
                group = getattr(option, "rich_help_panel", None) or OTHERS
                options[group].append(_option(option))
        arguments = [
            (_argument_name(each), each.help)
            for each in parameters
            if each.param_type_name == "argument" and getattr(each, "help", None)
        ]
        return {"Arguments": arguments, **options}


class HelpGroup(TyperGroup):
    """A group of commands with this help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, commands, options, and the example."""
        _write(self, ctx, formatter, self.sections(ctx))

    def sections(self, ctx: Any) -> dict[str, list[Row]]:
        """The commands, then the options."""
        commands = [
            (name, command.help.partition("\n\n")[0])
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and command.help
        ]
        options = [
            _option(each) for each in self.get_params(ctx) if each.param_type_name == "option"
        ]
        return {"Commands": commands, OTHERS: options}


class App(typer.Typer):
    """A part of the command line whose commands have this help."""

    def __init__(self, **options: Any) -> None:
        # No markup: brackets are plain text, and errors are lines, not boxes.
        super().__init__(cls=options.pop("cls", HelpGroup), rich_markup_mode=None, **options)

    def command(self, *names: Any, **options: Any) -> Callable[[Function], Function]:
        """As Typer's, and parameters may be groups of options."""
        register = super().command(*names, **{"cls": HelpCommand} | options)

        def register_single_options(function: Function) -> Function:
            register(with_single_options(function))
            return function

        return register_single_options


def _write(command: Any, ctx: Any, formatter: Any, sections: dict[str, list[Row]]) -> None:
    width = min(max(shutil.get_terminal_size().columns, _LEAST_COLUMNS), _MOST_COLUMNS)
    usage = " ".join(["Usage:", ctx.command_path, *command.collect_usage_pieces(ctx)])
    lines = textwrap.wrap(usage, width, subsequent_indent="    ")
    for paragraph in (command.help or "").split("\n\n"):
        lines += ["", *textwrap.wrap(paragraph, width)]
    names = [name for rows in sections.values() for name, _ in rows]
    column = max((len(name) for name in names if len(name) <= _NAME_COLUMNS), default=0) + 4
    for title, rows in sections.items():
        lines += ["", f"{title}:", *_table(rows, column, width)] if rows else []
    if command.epilog:
        lines += ["", *_example(command.epilog, width)]
    formatter.write("\n".join(lines) + "\n")


def _table(rows: Iterable[Row], column: int, width: int) -> list[str]:
    lines = []
    for name, text in rows:
        first, *others = _wrap(text, width - column)
        fits = len(name) <= column - 4
        lines += (
            [f"  {name}".ljust(column) + first] if fits else [f"  {name}", " " * column + first]
        )
        lines += [" " * column + line for line in others]
    return [line.rstrip() for line in lines]


def _wrap(text: str, width: int) -> list[str]:
    """The text in lines; its own line breaks stay, and lists are indented below their dash."""
    lines = []
    for line in text.split("\n"):
        further = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(line, width, subsequent_indent=further)
    return lines or [""]


def list_names(names: Mapping[str, Any]) -> str:
    """A list for a help text: each name with its `summary`."""
    return "".join(f"\n- {name}: {each.summary}" for name, each in names.items())


def _option(option: Any) -> Row:
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names = "/".join([*option.opts, *option.secondary_opts])
    if not option.is_flag:
        names += f" {option.metavar or 'VALUE'}"
    default = _default(option)
    text = option.help or ""
    if option.required:
        text += " Required."
    if default:
        text += f"{chr(10) if chr(10) in text else ' '}Default: {default}."
    return names, text


def _default(option: Any) -> str:
    shown, default = option.show_default, option.default
    if isinstance(shown, str):
        return shown
    if option.is_flag and option.secondary_opts:
        return str((option.opts if default else option.secondary_opts)[0])
    if not shown or default is None or default is False or default in ("", (), []):
        return ""
    value = getattr(default, "value", default)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _usage(argument: Any) -> str:
    name = _argument_name(argument)
    if argument.nargs == -1 and not name.endswith("..."):
        name += "..."
    return name if argument.required else f"[{name}]"


def _argument_name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _example(text: str, width: int) -> list[str]:
    """A command that can be copied: broken between its words by a backslash."""
    lines: list[str] = []
    for word in re.findall(r"(?:'[^']*'|\S)+", text):
        if lines and len(lines[-1]) + len(word) + 3 <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"    {word}" if lines else word)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]
