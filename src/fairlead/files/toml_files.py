# SPDX-License-Identifier: Apache-2.0
"""TOML files: the user's own by path, and those that come with Fairlead by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from fairlead.errors import InputError
from fairlead.files.naming import name_source
from fairlead.files.whole_file import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["find", "names", "read_toml"]

Model = TypeVar("Model", bound=BaseModel)

MOST_TOML_BYTES = 2**24
"""Largest TOML file: one takes some twenty times its size in memory."""


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


def read_toml(
    path: Path,
    model: type[Model],
    *,
    defaults: Mapping[str, Any] | None = None,
    instead: Mapping[str, Any] | None = None,
) -> Model:
    """A TOML file as `model`, which pydantic checks.

    Args:
        path: The file.
        model: What its tables have to be.
        defaults: Fields for which the file's stand, where it has them.
        instead: Fields that replace the file's.

    Raises:
        InputError: The file cannot be read, is not TOML, or a field is wrong; the message names
            file and field.
    """
    try:
        table = tomllib.loads(read_text(path, MOST_TOML_BYTES))
    except (ValueError, RecursionError) as error:  # of its form, a number's length, its depth
        raise InputError(f"{path}: not a readable TOML file: {error}") from error
    with name_source(path):
        return model.model_validate({**(defaults or {}), **table, **(instead or {})})
