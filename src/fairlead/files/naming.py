# SPDX-License-Identifier: Apache-2.0
"""Errors that name the file and the field."""

from __future__ import annotations

import contextlib
import reprlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from fairlead.errors import InputError

__all__ = ["first_problem", "name_source"]


@contextlib.contextmanager
def name_source(source: Path | str) -> Iterator[None]:
    """Errors of what `source` holds, raised in the block, begin with its name.

    Raises:
        InputError: A field is wrong; the message names it and the source.
    """
    try:
        yield
    except ValidationError as error:
        raise InputError(f"{source}: {first_problem(error)}") from error
    except InputError as error:
        raise type(error)(f"{source}: {error}") from error


def first_problem(error: ValidationError) -> str:
    """`field: what is wrong, got value`, with the place as it is written in the file."""
    problem = error.errors()[0]
    if problem["type"] == "json_invalid":
        return f"damaged or truncated JSON: {problem['ctx']['error']}"
    place = ""
    for part in problem["loc"]:
        if isinstance(part, int):
            place += f"[{part}]"
        elif not part.startswith(("list[", "function-")):  # pydantic's own, of a union
            place += f".{part}" if place else part
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] not in ("value_error", "missing"):  # ours name it, and one has none
        message += f", got {reprlib.repr(problem['input'])}"
    return f"{place}: {message}" if place else message
