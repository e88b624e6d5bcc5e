# SPDX-License-Identifier: Apache-2.0
"""JSON files, read as models whose fields are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from fairlead.files.naming import name_source
from fairlead.files.whole_file import read_bytes

__all__ = ["parse_json", "read_json"]

Model = TypeVar("Model")


def read_json(path: Path | str, model: type[Model], *, is_strict: bool | None = None) -> Model:
    """A JSON file as `model`, which pydantic checks.

    Args:
        path: The file.
        model: A model, or any other type that pydantic can check.
        is_strict: Whether nothing is converted, such as a text to a number; None as the model says.

    Raises:
        InputError: The file is missing, damaged, or has a wrong field; the message names both.
    """
    return parse_json(read_bytes(path), model, path, is_strict=is_strict)


def parse_json(
    text: str | bytes, model: type[Model], source: Path | str, *, is_strict: bool | None = None
) -> Model:
    """The same from a text; `source` is what errors call it."""
    adapter: TypeAdapter[Any] = TypeAdapter(model)
    with name_source(source):
        found: Model = adapter.validate_json(text, strict=is_strict)
    return found
