# SPDX-License-Identifier: Apache-2.0
"""Lists items, runs one, writes the page: what `bench/papers` does."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from item_command import Items, run_command
from page import pages_of
from rich.console import Console
from rich.table import Table
from rows import RESULTS, ROOT, Figure, Result, Row, load_rows

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json

_CHANGED = "-dirty"


def main(description: str) -> int:
    return run_command(description, "docs/reference/papers*", _load_items)


def _load_items() -> Items:
    rows = load_rows()
    return Items(
        {row.id: partial(_run_item, row) for row in rows},
        lambda: Console(width=None if sys.stdout.isatty() else 200).print(_list_of(rows)),
        lambda: pages_of(rows),
    )


def _list_of(rows: list[Row]) -> Table:
    table = Table("item", "kind", "place", "command", box=None)
    for row in rows:
        table.add_row(row.id, row.kind, row.place, row.command or f"left out: {row.left_out}")
    return table


def _run_item(row: Row) -> int:
    """Runs an item's command; keeps its figures where it has some."""
    if row.left_out is not None:
        raise InputError(f"{row.id} is left out: {row.left_out}")
    if not row.result:
        return _run(full_command(row))
    commit = clean_commit_of(ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        figures = Path(scratch) / "figures.json"
        began = time.monotonic()
        code = _run([*full_command(row), "--figures", str(figures)])
        if code != 0:
            return code
        _keep(row, commit, read_json(figures, list[Figure]), time.monotonic() - began)
    return 0


def full_command(row: Row) -> list[str]:
    """A row's command with what it needs to start from any folder: interpreter, build folder."""
    first, *rest = shlex.split(row.command)
    if first == "ctest":
        return ["ctest", "--test-dir", str(ROOT / "build" / "cpp-tests"), "--no-tests=error", *rest]
    if first == "pytest":
        return [sys.executable, "-m", "pytest", *rest]
    return [sys.executable, str(ROOT / first), *rest]


def _run(command: list[str]) -> int:
    print(shlex.join(command), file=sys.stderr)
    added_mpis = {"XDG_DATA_HOME": str(ROOT / "build" / "added-mpis")}
    is_test = "pytest" in command
    environment = {**os.environ, **(added_mpis if is_test else {})}
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


def _keep(row: Row, commit: str, figures: list[Figure], duration_s: float) -> None:
    result = Result(
        id=row.id,
        command=row.command,
        commit=commit,
        date=datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        duration_s=round(duration_s, 1),
        figures=figures,
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_text(row.result_file, result.model_dump_json(indent=1) + "\n")


def clean_commit_of(root: Path) -> str:
    """The commit that is run. Figures that are kept can be repeated with it.

    Raises:
        InputError: Files of it have been changed.
    """
    commit = commit_of(root)
    if commit.endswith(_CHANGED):
        raise InputError(
            f"files differ from commit {commit.removesuffix(_CHANGED)}: commit them first, so that "
            "figures that are kept can be repeated"
        )
    return commit


def commit_of(root: Path) -> str:
    """The commit that was run, marked where files of it had been changed.

    Kept results and the pages that are written from them do not count: else each item that is run
    would mark the next one.
    """
    git = ["git", "-C", str(root)]
    head = subprocess.run(
        [*git, "rev-parse", "--short=8", "HEAD"], check=False, capture_output=True, text=True
    )
    if head.returncode != 0:
        return "unknown"
    written = (":!bench/results", ":!docs/reference/papers*", ":!docs/reference/results*")
    changed = subprocess.run(
        [*git, "diff", "--quiet", "HEAD", "--", ".", *written], check=False, capture_output=True
    )
    return head.stdout.strip() + (_CHANGED if changed.returncode != 0 else "")
