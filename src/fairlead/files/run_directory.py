# SPDX-License-Identifier: Apache-2.0
"""The folder that every run leaves, so that it can be explained and repeated."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairlead.errors import Error, InputError
from fairlead.files.archive import write_text
from fairlead.files.base_folders import base_folder
from fairlead.files.own_files import require_own
from fairlead.files.process_identity import ProcessIdentity
from fairlead.files.pruning import prune_oldest
from fairlead.files.system_text import dump_json

NETWORK = "network.net.npz"
"""The network between the hosts, as it was measured or given."""
MEASURED_AGAIN = "long-trains.net.npz"
"""Pairs that were measured again by longer trains, because the decision depended on them."""
TRAFFIC = "traffic.traffic.npz"
"""The traffic between the ranks, as it was traced or given."""
SHARES = "shares"
"""The folder in which the ranks of a traced run leave their shares; it goes when they are read."""
TRACE = "trace"
"""What a run that was placed sent, gathered at its end; it goes when it is read."""
SEEN_TRAFFIC = "seen.traffic.npz"
"""What a run has sent, where that differs from the traffic by which it was placed."""
PLACEMENT = "placement.json"
"""The placement that the program ran on."""
PLAN = "plan"
"""The folder that the preload library reads."""
COMPARISON = "comparison.json"
"""Times and predicted costs of each method, of `fairlead compare` and `fairlead demo`."""
REPORT = "report.html"
"""The page that `fairlead demo` writes."""
RECORD = "run.json"
"""The command, when it began, and each step with its time and facts; the last one is `end`."""
HISTORY = "history.json"
"""The runs of the program up to this one, with predicted and measured times."""

_SPARE = ".fairlead-run-"
"""Begin of the name of a folder for a run whose record is lost; it is removed at the end."""

KEPT_DECISION, KEPT_INSIDE = KEPT_STEPS = ("kept_decision", "kept_inside")
"""Steps of the record that name the file in which a decision, or one on CPUs inside hosts, is kept
for later runs."""

MOST_RUNS = 2000
"""Folders of runs for which the user named none; of more the oldest are removed."""


class RunDirectory:
    """A folder with all inputs, decisions, logs and times of one run.

    A record that cannot be written is lost, with one line; the run goes on.

    Attributes:
        path: The folder.
        is_end_reported: Whether the user has been informed of what ended the run.
    """

    def __init__(self, path: Path, report: Callable[[str], object] | None = None):
        """Make the folder.

        Args:
            path: The folder.
            report: Gets the line where something cannot be written; None for standard error.

        Raises:
            InputError: It exists and is not empty, or cannot be made.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()) or not _claim(path / RECORD):
                raise InputError(f"{path}: is not empty; name a new folder for this run")
        except OSError as error:
            raise InputError(f"{path}: cannot be made: {error.strerror}") from error
        self.path = path
        self.is_end_reported = False
        self._report = report or (lambda line: print(f"fairlead: {line}", file=sys.stderr))
        self._is_lost = False
        self._started = time.monotonic()
        self._record: dict[str, Any] = {
            "kind": "run",
            "version": 1,
            "command": sys.argv,
            "process": ProcessIdentity.of_this_process()._asdict(),
            "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "steps": [],
        }

    @classmethod
    def new(
        cls, path: Path | None, name: str, report: Callable[[str], object] | None = None
    ) -> RunDirectory:
        """Make the folder the user named, or a new one under the user's state folder.

        Where that one cannot be made, the run's files go to a hidden folder below the current one,
        or to the temporary one, which is removed at the end: the record is lost.

        Raises:
            InputError: The folder that the user named exists and is not empty, or no folder can be
                made.
        """
        if path is not None:
            return cls(path, report)
        try:
            return cls(_make_unused(state_folder() / "runs", name), report)
        except InputError as error:
            spare = cls(_spare_folder(), report)
            spare._lose(error)
            return spare

    def file(self, name: str) -> Path:
        """Path of a file in the folder."""
        return self.path / name

    def record(self, step: str, facts: Mapping[str, Any]) -> None:
        """Add a step with its facts to the record, and write the record."""
        at_s = round(time.monotonic() - self._started, 3)
        self._record["steps"].append({"step": step, "at_s": at_s, **facts})
        text = dump_json(self._record) + "\n"
        with self.tolerate_failures():
            write_text(self.file(RECORD), text)

    @contextlib.contextmanager
    def tolerate_failures(self) -> Iterator[None]:
        """Let the run go on where a part of its record cannot be written; the first is reported."""
        try:
            yield
        except InputError as error:
            self._lose(error)

    def _lose(self, error: InputError) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._report(f"the record of this run is lost: {error}")

    @property
    def steps(self) -> list[str]:
        """Names of the steps recorded so far."""
        return [step["step"] for step in self._record["steps"]]

    @contextlib.contextmanager
    def record_failure(self) -> Iterator[None]:
        """Record the end of a run that an error or a signal ends while the block runs."""
        try:
            yield
        except BaseException as error:
            if all(step["step"] != "end" for step in self._record["steps"]):
                self.record("end", {"exit_code": exit_code_of(error), "failure": str(error)})
            raise


def is_kept(folder: Path) -> bool:
    """Whether the folder of a run stays; one that stands for a folder that cannot be made goes."""
    return not folder.name.startswith(_SPARE)


def record_line(folder: Path) -> str:
    """Where the record of a run is, for a user."""
    return f"the record of this run: {folder}" if is_kept(folder) else "this run leaves no record"


def make_run_folder(name: str) -> Path:
    """A new empty folder for a run that another process records, as `RunDirectory.new` finds it.

    Raises:
        InputError: No folder can be made.
    """
    try:
        return _make_unused(state_folder() / "runs", name)
    except InputError:
        return _spare_folder()


def _spare_folder() -> Path:
    """A new folder below the current one, which hosts often share, or the temporary one."""
    for parent in (Path.cwd(), None):
        try:
            made = tempfile.mkdtemp(prefix=_SPARE, dir=parent)
        except OSError as error:
            problem = error.strerror
            continue
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        return Path(made)
    raise InputError(f"{tempfile.gettempdir()}: no folder for a run can be made: {problem}")


def exit_code_of(error: BaseException) -> int:
    """Exit code of a command that ends by this."""
    if isinstance(error, Error):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return 128 + signal.SIGINT
    if isinstance(error, SystemExit) and isinstance(error.code, int):
        return error.code
    return 1


def state_folder() -> Path:
    """Where runs are kept: $XDG_STATE_HOME/fairlead."""
    return base_folder("XDG_STATE_HOME", ".local/state") / "fairlead"


def cache_folder() -> Path:
    """Where measurements are kept for later runs: $XDG_CACHE_HOME/fairlead."""
    return base_folder("XDG_CACHE_HOME", ".cache") / "fairlead"


def _claim(record: Path) -> bool:
    """Whether no other process, which found the folder empty too, has begun its record in it."""
    try:
        os.close(os.open(record, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        return False
    except OSError:  # The first note reports it.
        return True
    return True


def _make_unused(folder: Path, name: str) -> Path:
    """A new folder with the time in its name; jobs that start together get one each."""
    require_own(folder.parent)
    prune_oldest(folder, "*", MOST_RUNS)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        path = folder / (f"{stamp}-{name}" + (f"-{number}" if number else ""))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError:
            if not folder.is_dir():
                raise InputError(f"{folder}: cannot be made: it is a file") from None
            continue
        except OSError as error:
            raise InputError(f"{path}: cannot be made: {error.strerror}") from error
        return path
    raise InputError(f"{folder}: has no free name for {stamp}-{name}")
