# SPDX-License-Identifier: Apache-2.0
"""Shares of a traced run that was killed with its launcher: the next run of the program finds them.

A note in the cache, under the key of the program's traffic, names the folder of the run that is
being traced. It goes when the run's traffic has been read.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pydantic

from fairlead.act.launch import Launcher
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.whole_file import read_bytes
from fairlead.measure.profile_cache import Stamps, are_unchanged, traffic_path, with_folder
from fairlead.measure.trace_shares import read_shares
from fairlead.model.traffic import Traffic

__all__ = ["LeftShares"]


class _Left(pydantic.BaseModel, extra="forbid", strict=True):
    folder: str
    inputs: Stamps


class LeftShares:
    """The record of a traced run that may be ended before it is whole."""

    def __init__(self, program: Sequence[str], num_ranks: int, launcher: Launcher) -> None:
        path = traffic_path(program, num_ranks, launcher)
        self._path = path.with_name(path.name.replace(".traffic.npz", ".shares.json"))
        self._num_ranks = num_ranks

    def write(self, folder: Path, inputs: Stamps) -> None:
        """Record that a run begins.

        Args:
            folder: Where its ranks leave their shares.
            inputs: Result of `input_files` before it.
        """
        facts: dict[str, Any] = {"folder": str(folder.absolute()), "inputs": inputs}
        with contextlib.suppress(InputError):  # Then a killed run's shares are not found.
            write_text(with_folder(self._path), json.dumps(facts))

    def recall(self) -> Traffic | None:
        """What the recorded run has left, if its input is as it was; it is partial then."""
        left = self._read()
        if left is None or not are_unchanged(left.inputs):
            return None
        try:
            traffic = read_shares(Path(left.folder))
        except InputError:
            return None
        return traffic if traffic.num_ranks == self._num_ranks else None

    def forget(self, folder: Path) -> None:
        """Remove the record of the run with this folder; another run's stays."""
        left = self._read()
        if left is not None and left.folder == str(folder.absolute()):
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _read(self) -> _Left | None:
        """The record; None where there is none that can be read."""
        try:
            # By `json`, which keeps names that are not UTF-8 (PEP 383): they are looked up again.
            return _Left.model_validate(json.loads(read_bytes(self._path)))
        except (InputError, ValueError, RecursionError):
            return None
