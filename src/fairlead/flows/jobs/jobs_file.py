# SPDX-License-Identifier: Apache-2.0
"""The TOML file of `fairlead jobs`: programs that run at the same time, and what they send."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import pydantic

from fairlead.errors import InputError
from fairlead.files.toml_files import read_toml

__all__ = ["JobEntry", "read_jobs_file"]

# It becomes a folder of the run, and the begin of each line of output.
_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
_LAUNCHER = re.compile(r"(mpirun|mpiexec|srun)([.].*)?", re.ASCII)


def _words(text: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"expected text such as './solver input.dat', got {text!r}")  # noqa: TRY004
    words = tuple(shlex.split(text))
    if not words:
        raise ValueError("names no program")
    if _LAUNCHER.fullmatch(Path(words[0]).name):
        raise ValueError(f"leave out {words[0]!r}: each job is started by the launcher of --mpirun")
    return words


class JobEntry(pydantic.BaseModel, frozen=True, extra="forbid", strict=True):
    """`[[jobs]]`: one of the jobs.

    Attributes:
        program: Program and arguments; in the file one text, which is split as by a shell.
        ranks: Number of ranks, at least 2.
        traffic: A `.traffic.npz` file; in the file relative to its folder.
        name: What the job is called; None takes the program's or the traffic file's.
    """

    program: Annotated[tuple[str, ...], pydantic.BeforeValidator(_words)] = ()
    ranks: Annotated[int, pydantic.Field(ge=2)] | None = None
    traffic: Annotated[Path, pydantic.Field(strict=False)] | None = None
    name: Annotated[str, pydantic.Field(pattern=_NAME)] | None = None

    @pydantic.model_validator(mode="after")
    def _is_whole(self) -> JobEntry:
        if not self.program and self.traffic is None:
            raise ValueError("needs a program, a traffic, or both")
        if self.program and self.ranks is None:
            raise ValueError("ranks is missing: on how many ranks the program runs")
        return self

    def as_dict(self) -> dict[str, Any]:
        """All of it by the names that records of runs have."""
        traffic = None if self.traffic is None else str(self.traffic)
        names = {"program": list(self.program), "num_ranks": self.ranks}
        return names | {"traffic": traffic, "name": self.name}

    @property
    def title(self) -> str:
        """Its name, or without one the name of its program or traffic file."""
        if self.name is not None:
            return self.name
        if self.program:
            return Path(self.program[0]).name
        assert self.traffic is not None
        return self.traffic.name.removesuffix(".traffic.npz")


class _JobsFile(pydantic.BaseModel, frozen=True, extra="forbid", strict=True):
    jobs: Annotated[list[JobEntry], pydantic.Field(min_length=1)]


def read_jobs_file(path: Path, needed: str) -> list[JobEntry]:
    """The jobs of a file, each with what is needed of it.

    Args:
        path: The file.
        needed: A field that each job must have: "program" to run them, "traffic" to place them.

    Raises:
        InputError: The file cannot be read, or a field is wrong or missing; the message names
            file and field.
    """
    jobs = read_toml(path, _JobsFile).jobs
    for index, job in enumerate(jobs):
        if not getattr(job, needed):
            raise InputError(f"{path}: jobs[{index}].{needed}: is missing")
    folder = path.parent
    return [
        job.model_copy(update={"traffic": folder / job.traffic}) if job.traffic else job
        for job in jobs
    ]
