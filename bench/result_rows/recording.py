# SPDX-License-Identifier: Apache-2.0
"""Lists items, runs one and keeps its figures, writes the pages: what `bench/record` does."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from commands import clean_commit_of
from item_command import Items, run_command
from result_pages import pages_of
from result_rows import (
    ROOT,
    Item,
    KeptResult,
    KeptTable,
    load_headlines,
    load_subjects,
    result_file,
)

from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json


def main(description: str) -> int:
    return run_command(description, "docs/reference/results*", _load_items)


def _load_items() -> Items:
    subjects = load_subjects()
    items = {f"{name}/{item.id}": item for name, each in subjects.items() for item in each.item}
    return Items(
        {name: partial(run_item, name, item) for name, item in items.items()},
        lambda: print("\n".join(f"{name}\t{item.command}" for name, item in items.items())),
        lambda: pages_of(subjects, load_headlines()),
    )


def run_item(name: str, item: Item) -> int:
    """Run an item's command; keep its tables, or what it printed, if it succeeded.

    Raises:
        InputError: Files differ from the commit; nothing is run.
    """
    commit = clean_commit_of(ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        tables = Path(scratch) / "tables.json"
        command = full_command(item, tables)
        print(shlex.join(command), file=sys.stderr)
        done = subprocess.run(
            command,
            check=False,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "140"},
            stdout=subprocess.PIPE,
            text=True,
        )
        sys.stdout.write(done.stdout)
        if done.returncode == 0:
            kept = read_json(tables, list[KeptTable]) if tables.exists() else []
            _keep(name, item, commit, kept, "" if kept else done.stdout)
    return done.returncode


def full_command(item: Item, tables: Path) -> list[str]:
    """An item's command as it is started; it writes its tables if its benchmark can do so."""
    first, *rest = shlex.split(item.command)
    program = ROOT / first
    if not program.is_file():
        return [first, *rest]
    writes_tables = "add_tables_option(" in program.read_text(encoding="utf-8")
    more = ["--tables", str(tables)] if writes_tables else []
    return [sys.executable, str(program), *rest, *more]


def _keep(name: str, item: Item, commit: str, tables: list[KeptTable], printed: str) -> None:
    result = KeptResult(
        id=name,
        command=item.command,
        commit=commit,
        date=datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        tables=tables,
        printed=printed,
    )
    path = result_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, result.model_dump_json(indent=1) + "\n")
