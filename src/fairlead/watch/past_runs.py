# SPDX-License-Identifier: Apache-2.0
"""The runs of this user, read back from the folders that they left."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from fairlead.errors import InputError
from fairlead.files.json_files import read_json
from fairlead.files.naming import name_source
from fairlead.files.process_identity import ProcessIdentity
from fairlead.files.run_directory import COMPARISON, RECORD, state_folder
from fairlead.model.cluster import Cluster

__all__ = [
    "PastRun",
    "find_run",
    "has_run_ended",
    "latest_run",
    "past_run",
    "past_runs",
    "runs_folder",
]

_Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


@dataclasses.dataclass(frozen=True)
class PastRun:
    """What the record in one folder says about a run; None where it says nothing.

    Attributes:
        folder: The folder.
        started: Time of the start.
        program: Program and arguments; empty for several jobs.
        num_ranks: Ranks of the program, or of all jobs.
        hosts: Hosts that took part.
        placement: The method whose placement the program ran on; "launcher" where that was kept.
        predicted_s: Predicted time.
        measured_s: Measured time; of several jobs the longest.
        saving_ratio: Expected saving of the time on the network by its placement; None where the
            launcher's was kept.
        exit_code: Its exit code; None if it did not end, or if it compared methods.
        is_comparison: Whether methods were compared.
        is_dry: Whether it was only decided what to do.
        levers: What was decided on each lever, by name: whether it was considered and taken, why,
            and what it was expected to save.
        guessed_from: Arguments of the run for whose traffic this one's was taken; None where it was
            known, or traced first.
        difference: Between the traffic by which it was placed and its own: 0 alike, 1 disjoint;
            None where its own was not seen.
        signal: The first signal that asked for its end; None where none did.
        problem: Why the folder cannot be read; all else is None then.
    """

    folder: Path
    started: datetime.datetime | None = None
    program: tuple[str, ...] = ()
    num_ranks: int | None = None
    hosts: tuple[str, ...] | None = None
    placement: str | None = None
    predicted_s: float | None = None
    measured_s: float | None = None
    saving_ratio: float | None = None
    exit_code: int | None = None
    is_comparison: bool = False
    is_dry: bool = False
    levers: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    guessed_from: tuple[str, ...] | None = None
    difference: float | None = None
    signal: int | None = None
    problem: str | None = None


class _Job(pydantic.BaseModel):
    num_ranks: int


class _Gain(pydantic.BaseModel):
    ratio: Annotated[float, pydantic.Field(allow_inf_nan=False)]


class _Facts(pydantic.BaseModel):
    """Fields of all steps together; a later step replaces values of earlier ones."""

    program: tuple[str, ...] = ()
    num_ranks: int | None = None
    jobs: tuple[_Job, ...] = ()
    hosts: tuple[str, ...] | None = None
    method: str | None = None
    kept_launcher_placement: bool = False
    gain: _Gain | None = None
    predicted_s: _Seconds | None = None
    seconds: _Seconds | tuple[_Seconds, ...] | None = None
    exit_code: int | None = None
    exit_codes: tuple[int, ...] = ()
    signal: int | None = None
    is_dry: bool = False
    levers: dict[str, dict[str, Any]] = pydantic.Field(default_factory=dict)
    guessed_from: tuple[str, ...] | None = None
    difference: Annotated[float, pydantic.Field(ge=0, le=1)] | None = None


class _Record(pydantic.BaseModel):
    kind: Literal["run"]
    started: pydantic.AwareDatetime
    process: ProcessIdentity | None = None
    steps: tuple[dict[str, Any], ...] = ()


class _NetworkStep(pydantic.BaseModel):
    hosts: tuple[str, ...]
    slots: tuple[int, ...]


_READ_STEPS = ("request", "network", "decision", "expected", "end", "learned")


def runs_folder() -> Path:
    """Folder of all runs for which the user named none."""
    return state_folder() / "runs"


def past_runs(folder: Path | None = None) -> list[PastRun]:
    """All runs recorded below a folder, the oldest first; `problem` names damaged records.

    Raises:
        InputError: The folder cannot be read.
    """
    root = runs_folder() if folder is None else folder
    if folder is None and not root.exists():
        return []
    try:
        folders = sorted(path for path in root.iterdir() if path.is_dir())
    except OSError as error:
        raise InputError(f"{root}: cannot be read: {error.strerror}") from error
    return [past_run(path) for path in folders]


def latest_run(holding: Collection[str]) -> Path:
    """The folder of the latest run that has one of these files.

    Raises:
        InputError: There is none.
    """
    root = runs_folder()
    # A folder's name begins with the time of its start.
    folders = sorted(root.iterdir(), reverse=True) if root.is_dir() else []
    for folder in folders:
        if any((folder / name).is_file() for name in holding):
            return folder
    if not folders:
        raise InputError(f"{root}: there are no runs yet; name a file or a folder")
    raise InputError(f"{root}: no run has one of {', '.join(holding)} yet; name a file or a folder")


def find_run(name: Path) -> Path:
    """The path itself if it exists, else the folder of the run with this name."""
    kept = runs_folder() / name
    return kept if not name.exists() and len(name.parts) == 1 and kept.is_dir() else name


def load_cluster(folder: Path) -> Cluster:
    """Hosts and slots that the run in `folder` could use.

    Raises:
        InputError: The folder has no record, or the record does not contain them.
    """
    path = folder / RECORD
    steps = load_steps(folder)
    if "network" not in steps:
        raise InputError(f"{path}: steps: do not hold hosts and slots of the run")
    with name_source(path):
        noted = _NetworkStep.model_validate(steps["network"])
        return Cluster(noted.hosts, noted.slots)


def load_steps(folder: Path) -> dict[str, dict[str, Any]]:
    """The facts that the run in `folder` has noted so far, by step.

    Raises:
        InputError: The folder has no record, or one of something else.
    """
    return {str(step.get("step")): step for step in read_json(folder / RECORD, _Record).steps}


def has_run_ended(folder: Path) -> bool:
    """Whether the run in `folder` has ended: by its record, or as its process here is gone.

    A run that was killed records no end.

    Raises:
        InputError: The folder has no record, or one of something else.
    """
    record = read_json(folder / RECORD, _Record)
    if any(step.get("step") == "end" for step in record.steps):
        return True
    process = record.process
    return process is not None and process.is_here and not process.is_running


def past_run(folder: Path) -> PastRun:
    """What the record in this folder says; `problem` where it is damaged."""
    path = folder / RECORD
    try:
        record = read_json(path, _Record)
        noted = {
            name: value
            for step in record.steps
            if step.get("step") in _READ_STEPS
            for name, value in step.items()
        }
        with name_source(path):
            facts = _Facts.model_validate(noted)
    except InputError as error:
        return PastRun(folder, problem=str(error))
    return _past_run(folder, record, facts)


def _past_run(folder: Path, record: _Record, facts: _Facts) -> PastRun:
    seconds = facts.seconds if isinstance(facts.seconds, tuple) else (facts.seconds,)
    codes = facts.exit_codes or (facts.exit_code,)
    return PastRun(
        folder,
        record.started,
        facts.program,
        sum(job.num_ranks for job in facts.jobs) if facts.jobs else facts.num_ranks,
        facts.hosts,
        "launcher" if facts.kept_launcher_placement else facts.method,
        facts.predicted_s,
        max((each for each in seconds if each is not None), default=None),
        None if facts.gain is None or facts.kept_launcher_placement else facts.gain.ratio,
        next((code for code in codes if code), codes[0]),
        (folder / COMPARISON).exists(),
        facts.is_dry,
        facts.levers,
        facts.guessed_from,
        facts.difference,
        facts.signal,
    )
