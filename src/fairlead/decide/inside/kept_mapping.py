# SPDX-License-Identifier: Apache-2.0
"""What rehearsals decided on the CPUs of ranks, kept for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pydantic

from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.measure.profile_cache import with_folder

__all__ = ["KeptMapping", "keep_mapping", "load_mapping"]

_Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]


class KeptMapping(pydantic.BaseModel, extra="forbid"):
    """The CPUs of ranks, and what a rehearsal found.

    Attributes:
        lists: CPUs of each rank, in the form of cpuset(7).
        by_program: Whether each rank asks for them itself.
        num_hosts: Hosts on which ranks have other CPUs than by the launcher.
        gain: The fields of the gain.
        num_rounds: Rounds of the rehearsal.
        is_taken: Whether they are used.
    """

    kind: Literal["inside"] = "inside"
    version: Literal[1] = 1
    lists: tuple[str, ...]
    by_program: bool
    num_hosts: int
    gain: tuple[_Finite, _Finite, _Finite, _Finite]
    num_rounds: int
    is_taken: bool


def keep_mapping(path: Path, kept: KeptMapping) -> None:
    """Write the file.

    Raises:
        InputError: The cache cannot be written.
    """
    write_text(with_folder(path), kept.model_dump_json(indent=1) + "\n")


def load_mapping(path: Path) -> KeptMapping | None:
    """What is in this file; None where there is none."""
    try:
        return read_json(path, KeptMapping)
    except InputError:
        return None
