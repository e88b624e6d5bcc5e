# SPDX-License-Identifier: Apache-2.0
"""TOML files: the user's own by path, and those that come with Fairlead by name."""

from __future__ import annotations

import reprlib
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["find", "first_problem", "names", "read_toml"]


def names(folder: Path) -> list[str]:
    """Names of the TOML files in a folder of the package."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def find(source: str | Path, folder: Path, kind: str) -> Path:
    """The file with this name in `folder`, or the path that the user gave.

    Args:
        source: A name or a path.
        folder: The package's folder of such files.
        kind: What they are, for the message.

    Raises:
        InputError: There is neither such a name nor such a file; the message lists the names.
    """
    packaged = names(folder)
    if str(source) in packaged:
        return folder / f"{source}.toml"
    path = Path(source)
    if not path.exists():
        raise InputError(f"{kind} {str(source)!r}: neither a file nor one of {', '.join(packaged)}")
    return path


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file, unchecked.

    Raises:
        InputError: The file cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:  # of its form, a number's length, its depth
        raise InputError(f"{path}: not a readable TOML file: {error}") from error


def first_problem(error: ValidationError) -> str:
    """`field: what is wrong, got value`, with the place as it is written in the file."""
    problem = error.errors()[0]
    place = ""
    for part in problem["loc"]:
        if isinstance(part, int):
            place += f"[{part}]"
        elif not part.startswith(("list[", "function-")):  # pydantic's own, of a union
            place += f".{part}" if place else part
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] not in ("value_error", "missing"):  # ours tell it, and one has none
        message += f", got {reprlib.repr(problem['input'])}"
    return f"{place}: {message}" if place else message
