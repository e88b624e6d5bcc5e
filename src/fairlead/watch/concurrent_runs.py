# SPDX-License-Identifier: Apache-2.0
"""The runs of this user that have the same hosts at the same time.

Each run leaves a file in the user's store while it lasts, and a mark at each other one that it
meets. Nothing is locked, which file systems of clusters may not support: files appear as a whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pydantic

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.lookup import list_files
from fairlead.files.own_files import require_own
from fairlead.files.process_identity import ProcessIdentity
from fairlead.files.run_directory import state_folder
from fairlead.files.system_text import SystemText

__all__ = ["ConcurrentRuns", "announce_run"]

BEAT_S = 30.0
"""Each run touches its file so often, for runs on other machines or in other containers."""

SILENT_S = 150.0
"""A run elsewhere that was silent for so long has ended without removing its file."""

FORGOTTEN_S = 86_400.0


class _Run(pydantic.BaseModel, extra="forbid"):
    kind: Literal["running"] = "running"
    version: Literal[1] = 1
    machine: str
    pid: int
    started: int
    pid_namespace: str = ""
    hosts: tuple[str, ...]
    cloud: str
    program: SystemText


class ConcurrentRuns:
    """The other runs on a run's hosts; none where the store cannot be used."""

    def __init__(self, own: Path | None = None, hosts: Sequence[str] = (), cloud: str = "") -> None:
        self._own, self._hosts, self._cloud = own, frozenset(hosts), cloud

    def others(self) -> list[str]:
        """Programs of the other runs that have one of the hosts now; each gets a mark."""
        found = []
        for path, run in self._find_running():
            if run.cloud == self._cloud and self._hosts & set(run.hosts):
                _leave_mark(path, self._own)
                found.append(run.program)
        return found

    def has_met(self) -> bool:
        """Whether there is another run now, or was one since this run began."""
        if self._own is None:
            return False
        if self.others():
            return True
        try:
            return any(_marks(self._own).iterdir())
        except OSError:  # Nobody has left one, or the store is not there any more.
            return False

    def forget_ended(self) -> None:
        """Count no more those that have ended by now: from now on another program is timed."""
        if self._own is None:
            return
        with contextlib.suppress(OSError):
            # The marks first: a run that leaves one later is not to be forgotten.
            marks = list(_marks(self._own).iterdir())
            running = {path.stem for path, _ in self._find_running()}
            for mark in marks:
                if mark.name not in running:
                    mark.unlink(missing_ok=True)

    def _find_running(self) -> Iterator[tuple[Path, _Run]]:
        if self._own is None:
            return
        for path in list_files(self._own.parent, "*.json"):
            if path == self._own:
                continue
            with contextlib.suppress(InputError, OSError):
                run = read_json(path, _Run)
                if _is_alive(run, path):
                    yield path, run


@contextlib.contextmanager
def announce_run(
    hosts: Sequence[str], program: str, cloud_facts: Sequence[Any] = ()
) -> Iterator[ConcurrentRuns]:
    """Other runs see this one while the block runs; it goes on where the store cannot be used.

    Args:
        hosts: Its hosts.
        program: Its name, for the users of the others.
        cloud_facts: What distinguishes hosts of the same name, as `profile_cache.lab_facts`.
    """
    folder = state_folder() / "running"
    own = folder / f"{uuid.uuid4().hex[:16]}.json"
    run = _Run(
        **ProcessIdentity.of_this_process()._asdict(),
        hosts=tuple(hosts),
        cloud=json.dumps(list(cloud_facts)),
        program=program,
    )
    try:
        require_own(state_folder())
        folder.mkdir(parents=True, exist_ok=True)
        write_text(own, run.model_dump_json() + "\n")
        _remove_abandoned(folder)
    except (InputError, OSError):  # What else is kept there reports it.
        yield ConcurrentRuns()
        return
    ended = threading.Event()
    threading.Thread(target=_beat, args=(own, ended), daemon=True).start()
    try:
        yield ConcurrentRuns(own, hosts, run.cloud)
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            own.unlink(missing_ok=True)
        shutil.rmtree(_marks(own), ignore_errors=True)


def _beat(own: Path, ended: threading.Event) -> None:
    while not ended.wait(BEAT_S):
        # Not touch(), which would make a file that is removed at this moment anew.
        with contextlib.suppress(OSError):
            os.utime(own)


def _marks(path: Path) -> Path:
    return path.with_suffix(".met")


def _leave_mark(path: Path, own: Path | None) -> None:
    if own is None:
        return
    with contextlib.suppress(OSError):
        _marks(path).mkdir(exist_ok=True)
        (_marks(path) / own.stem).touch()


def _is_alive(run: _Run, path: Path) -> bool:
    process = ProcessIdentity(run.machine, run.pid, run.started, run.pid_namespace)
    if process.is_here:
        return process.is_running
    return time.time() - path.stat().st_mtime < SILENT_S


def _remove_abandoned(folder: Path) -> None:
    """Remove what runs have left that were killed, and are too old to be under way.

    The marks of a run are as old as the last one, and stay as long as its file, which it touches.
    """
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            is_old = time.time() - path.stat().st_mtime > FORGOTTEN_S
            if is_old and path.is_dir() and not path.with_suffix(".json").exists():
                shutil.rmtree(path)
            elif is_old and path.is_file():
                path.unlink()
