# SPDX-License-Identifier: Apache-2.0
"""One file of the plan: a JSON object that says what it is."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.archive import write_text

__all__ = ["VERSION", "write_plan_file"]

VERSION = 2
"""Format version of files that have none of their own; the preload library reads this one only."""


def write_plan_file(
    folder: Path | str,
    name: str,
    fields: Mapping[str, object],
    version: int = VERSION,
    *,
    kind: str | None = None,
    is_private: bool = False,
) -> None:
    """Write a file of the plan; it appears whole or not at all.

    Args:
        folder: The plan; made when it is missing.
        name: The file's name.
        fields: What it holds.
        version: Version of this file's format.
        kind: The format is "fairlead-KIND"; None: the file is KIND.json.
        is_private: Only the owner may read it.

    Raises:
        InputError: The folder cannot be made or written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    document = {"format": f"fairlead-{kind or Path(name).stem}", "version": version, **fields}
    text = json.dumps(document, allow_nan=False) + "\n"
    if is_private:
        _write_private(folder / name, text)
    else:
        write_text(folder / name, text)


def _write_private(path: Path, text: str) -> None:
    """Write a file that no other user could read at any moment."""
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
