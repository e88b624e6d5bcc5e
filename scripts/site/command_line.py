# SPDX-License-Identifier: Apache-2.0
"""A page for each command of `fairlead`, from its options in Typer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from cells import code, plain, table
from typer.core import TyperGroup

from fairlead.cli import COMMANDS, app

FOLDER = "reference/command-line"


def command_pages() -> dict[str, str]:
    """The text of each page by its name: a list of all commands, and a page for each."""
    group = typer.main.get_group(app)
    context = typer.Context(group, info_name="fairlead")
    pages = {f"{FOLDER}/index.md": _list_of_commands()}
    for name in COMMANDS:
        command = group.resolve_command(context, [name])[1]
        text = "\n".join(_sections(command, context, name, "#"))
        pages[f"{FOLDER}/{name}.md"] = text
    return pages


def _list_of_commands() -> str:
    rows = [
        (f"[{code(f'fairlead {name}')}]({name}.md)", plain(what)) for name, what in COMMANDS.items()
    ]
    listed = table(("command", "what it does"), rows)
    return f"# Command line\n\nEach command prints this with `--help`.\n\n{listed}"


def _sections(command: Any, parent: Any, name: str, level: str) -> Iterator[str]:
    """Usage, description, a table for each group of options, the example, then subcommands."""
    context = typer.Context(command, info_name=name, parent=parent)
    yield f"{level} fairlead {context.command_path.removeprefix('fairlead ')}\n"
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"    {usage}\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield f"{plain(paragraph.replace(chr(10), ' '))}\n"
    for title, rows in command.sections(context).items():
        if rows:
            yield f"**{title}**\n"
            yield table(
                ("name", "what it means"), [(code(term), plain(text)) for term, text in rows]
            )
    if command.epilog:
        yield f"    {command.epilog.removeprefix('Example: ')}\n"
    if isinstance(command, TyperGroup):
        for each in command.list_commands(context):
            yield from _sections(command.get_command(context, each), context, each, f"{level}#")
