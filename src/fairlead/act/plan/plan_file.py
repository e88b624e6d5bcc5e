# SPDX-License-Identifier: Apache-2.0
"""One file of the plan: a JSON object that says what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.archive import write_text

__all__ = ["VERSION", "write_plan_file"]

VERSION = 2
"""Of all files of the plan; the preload library reads this one only."""


def write_plan_file(folder: Path | str, name: str, fields: Mapping[str, object]) -> None:
    """Write a file of the plan; it appears whole or not at all.

    Args:
        folder: The plan; made when it is missing.
        name: The file's name, "KIND.json"; its format is "fairlead-KIND".
        fields: What it holds.

    Raises:
        InputError: The folder cannot be made or written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    document = {"format": f"fairlead-{Path(name).stem}", "version": VERSION, **fields}
    write_text(folder / name, json.dumps(document, allow_nan=False) + "\n")
