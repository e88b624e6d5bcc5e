# SPDX-License-Identifier: Apache-2.0
"""Where the histories of programs are kept.

There is a small file for each program with its arguments, number of ranks and hosts, and a folder
with what was added since it was written.

Each addition is a file of its own, which appears as a whole: no lock is needed, which file systems
of clusters may lack. From time to time they are moved into the file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pydantic

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.lookup import is_there, list_files
from fairlead.files.own_files import require_own
from fairlead.files.pruning import prune_oldest
from fairlead.files.run_directory import state_folder
from fairlead.watch.history import History, Retry, RunTime

__all__ = ["add", "forget", "histories_folder", "history_path", "recall"]

MOST_HISTORIES = 2000
"""Programs, with their arguments and hosts, of which times are kept."""

MOST_ADDITIONS = 16
"""Files of additions from which on they are moved into one."""

MOST_NAMED = 4 * MOST_ADDITIONS
"""Names of additions moved earlier that the file keeps, for processes that still read them."""

MERGING_S = 600.0
"""A process that moves them has ended by then."""


def history_path(key: str) -> Path:
    """File of a program's history; `key` is that of `profile_cache.program_key`."""
    return histories_folder() / f"{key}.json"


def histories_folder() -> Path:
    """Where the histories of all programs are."""
    return state_folder() / "history"


def recall(path: Path, empty: History, report: Callable[[str], object] | None = None) -> History:
    """The history in this file with what was added since, or `empty`.

    Args:
        path: The file; what was added since is in a folder next to it.
        empty: The program, its ranks and hosts.
        report: Gets a line where the file cannot be used: it is damaged, or of another version.
    """
    # The additions first: what another process moves into the file meanwhile, and removes, is then
    # read twice, which the file's list of what it holds makes up for, and not missed.
    additions = _additions(path)
    kept = empty
    try:
        kept = History.load(path)
    except InputError as error:
        if report is not None and is_there(path):
            report(f"earlier runs are not used: {error}")
    return _with_additions(kept, additions)


def add(path: Path, empty: History, *runs: RunTime, retries: Sequence[Retry] = ()) -> History:
    """Add runs, or marks, to a history, which other processes on any host may do at the same time.

    Raises:
        InputError: They cannot be written.
    """
    require_own(state_folder())
    folder = _folder(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    if not is_there(path):
        empty.save(path)
    addition = _Addition(runs=runs, retries=tuple(retries))
    name = f"{time.time_ns():020}-{uuid.uuid4().hex[:12]}.json"
    write_text(folder / name, addition.model_dump_json() + "\n")
    prune_oldest(path.parent, "*.json", MOST_HISTORIES)
    prune_oldest(path.parent, "*.d", MOST_HISTORIES)
    grown = recall(path, empty)
    if len(_additions(path)) > MOST_ADDITIONS:
        with contextlib.suppress(InputError, OSError):
            _merge(path)
    return grown


class _Addition(pydantic.BaseModel, frozen=True, extra="forbid"):
    kind: Literal["runs"] = "runs"
    version: Literal[2] = 2
    runs: tuple[RunTime, ...] = ()
    retries: tuple[Retry, ...] = ()


def _folder(path: Path) -> Path:
    return path.with_suffix(".d")


def _additions(path: Path) -> dict[str, _Addition]:
    """By the names of their files, the oldest first; what cannot be read counts as missing."""
    found = {}
    for file in list_files(_folder(path), "*.json"):
        with contextlib.suppress(InputError):
            found[file.name] = read_json(file, _Addition)
    return found


def _with_additions(kept: History, additions: Mapping[str, _Addition]) -> History:
    new = [one for name, one in additions.items() if name not in kept.merged]
    if not new:
        return kept
    runs = (*kept.runs, *(run for one in new for run in one.runs))
    retries = (*kept.retries, *(mark for one in new for mark in one.retries))
    return kept.model_copy(update={"runs": runs, "retries": retries}).without_old_runs()


def _merge(path: Path) -> None:
    """Move what was added into the file itself; one process at a time does this.

    The file names what it holds before that is removed, so that nothing counts twice.

    Raises:
        InputError: The file is damaged or of another version, and stays as it is.
        OSError: Another process is at it.
    """
    with _sole_merger(path):
        additions = _additions(path)
        kept = History.load(path)
        merged = _with_additions(kept, additions)
        # A reader that has found additions before they were moved here finds the name of each of
        # them here, also after the next merge.
        earlier = [name for name in kept.merged if name not in additions]
        names = (*earlier[-MOST_NAMED:], *additions)
        merged.model_copy(update={"merged": names}).save(path)
        for name in additions:
            (_folder(path) / name).unlink(missing_ok=True)


@contextlib.contextmanager
def _sole_merger(path: Path) -> Iterator[None]:
    """By a file that is created exclusively; that of a process which was killed is removed."""
    mark = path.with_suffix(".merging")
    with contextlib.suppress(FileNotFoundError):
        if time.time() - mark.stat().st_mtime > MERGING_S:
            mark.unlink()
    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Remove a history.

    Raises:
        InputError: It cannot be removed.
    """
    try:
        shutil.rmtree(_folder(path), ignore_errors=True)
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be removed: {error.strerror}") from error
