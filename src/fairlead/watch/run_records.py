# SPDX-License-Identifier: Apache-2.0
"""What the preload library has written into the folder of a run, a file of each process."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from fairlead.errors import InputError
from fairlead.files.json_files import read_json

__all__ = ["read_records"]

Model = TypeVar("Model")


def read_records(folder: Path, name: str, model: type[Model]) -> list[Model]:
    """The files NAME-RANK.json of a folder.

    A process that does not see the folder writes none; a damaged file counts as missing.

    Args:
        folder: Folder of the run.
        name: What they are about.
        model: Checks each.
    """
    found = []
    for file in sorted(folder.glob(f"{name}-*.json")):
        try:
            found.append(read_json(file, model))
        except InputError:
            continue
    return found
