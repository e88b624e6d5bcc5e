# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/papers and bench/record: list items, run some, write their pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.files.archive import write_text


class Items(NamedTuple):
    """What a command has.

    Attributes:
        run_of_item: By its name, what runs an item and returns its exit code.
        print_all: Prints all items.
        make_pages: The text of each page.
    """

    run_of_item: Mapping[str, Callable[[], int]]
    print_all: Callable[[], None]
    make_pages: Callable[[], Mapping[Path, str]]


def run_command(description: str, pages: str, load: Callable[[], Items]) -> int:
    """Do what the options ask for, and return the exit code.

    Args:
        description: What the command does, for `--help`.
        pages: The pages that `--write` writes, for `--help`.
        load: Reads the items.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("items", nargs="*", metavar="ITEM", help="the items to run")
    parser.add_argument("--list", action="store_true", help="print all items with their commands")
    parser.add_argument("--write", action="store_true", help=f"write {pages}")
    options = parser.parse_args()
    if not (options.items or options.list or options.write):
        parser.error("name an item, or --list, or --write")
    name = f"bench/{parser.prog}"
    try:
        items = load()
        unknown = [item for item in options.items if item not in items.run_of_item]
        if unknown:
            raise InputError(f"no item {', '.join(unknown)}; {name} --list prints all")
        if options.list:
            items.print_all()
        codes = [items.run_of_item[item]() for item in options.items]
        if options.write:
            for page, text in items.make_pages().items():
                page.parent.mkdir(parents=True, exist_ok=True)
                write_text(page, text)
    except InputError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return max(codes, default=0)
