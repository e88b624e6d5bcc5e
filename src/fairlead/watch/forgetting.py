# SPDX-License-Identifier: Apache-2.0
"""Removes what runs have left: their folders, and what was learned of a program."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.run_directory import KEPT_STEPS, RECORD, cache_folder
from fairlead.measure.known_inputs import forget_inputs
from fairlead.watch.history import History
from fairlead.watch.history_store import forget, histories_folder, recall
from fairlead.watch.past_runs import PastRun, find_run, load_steps, past_run, past_runs, runs_folder

__all__ = ["forget_program", "remove_run"]


def remove_run(name: Path) -> Path:
    """Remove the folder of a run with everything in it.

    Args:
        name: The folder, or the run's name.

    Raises:
        InputError: It is not the folder of a run, or cannot be removed.
    """
    folder = _folder_of(name)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be removed: {error.strerror}") from error
    return folder


def forget_program(name: Path) -> int:
    """Remove what was learned of a program: times, traffic and decisions.

    The folders of its runs stay. What has proved slower may be used again afterwards.

    Args:
        name: One of its runs (the folder, or its name), for the same arguments, ranks and hosts
            alone; or the program, for all of them.

    Returns:
        The number of runs whose times were kept.

    Raises:
        InputError: It is neither the folder of a run nor a program of which anything is kept, or a
            file cannot be removed.
    """
    folder = find_run(name)
    if (folder / RECORD).is_file():
        run = past_run(folder)
        if run.problem is not None:
            raise InputError(run.problem)
        job = (run.program, run.num_ranks, run.hosts)
        found = _forget(lambda kept: (kept.program, kept.num_ranks, kept.hosts) == job)
        forget_inputs(lambda one: (one.program, one.num_ranks) == (run.program, run.num_ranks))
        alike = [one for one in past_runs() if (one.program, one.num_ranks, one.hosts) == job]
        _forget_decisions([run, *alike])
        return sum(found)
    wanted = _file_of(str(name))
    found = _forget(lambda kept: _file_of(kept.program[0]) == wanted)
    num_inputs = forget_inputs(lambda one: _file_of(one.program[0]) == wanted)
    if not found and not num_inputs:
        raise InputError(
            f"{name}: neither a run in {runs_folder()} nor a program of which anything is kept"
        )
    _forget_decisions(
        [one for one in past_runs() if one.program and _file_of(one.program[0]) == wanted]
    )
    return sum(found)


def _forget(is_meant: Callable[[History], bool]) -> list[int]:
    """Remove these histories; how many runs each of them had."""
    counts = []
    for path in sorted(histories_folder().glob("*.json")):
        try:
            kept = History.load(path)
        except InputError:
            continue
        if is_meant(kept):
            counts.append(len(recall(path, kept).runs))
            forget(path)
    return counts


def _forget_decisions(runs: Sequence[PastRun]) -> None:
    """Remove the decisions that these runs have kept or used, which are named in their records."""
    folder = cache_folder() / "decisions"
    for run in runs:
        with contextlib.suppress(InputError, OSError):
            steps = load_steps(run.folder)
            files = [Path(steps[step].get("file", "")) for step in KEPT_STEPS if step in steps]
            for file in files:
                if file.parent == folder:
                    file.unlink(missing_ok=True)


def _file_of(program: str) -> str:
    """The file of a program, where there is one; a path has lost its "./" on the command line."""
    path = Path(program) if Path(program).is_file() else None
    found = shutil.which(program) or path
    return str(Path(program)) if found is None else str(Path(found).resolve())


def _folder_of(name: Path) -> Path:
    folder = find_run(name)
    if not (folder / RECORD).is_file():
        raise InputError(f"{name}: not the folder of a run, nor the name of one in {runs_folder()}")
    return folder
