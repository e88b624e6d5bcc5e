# SPDX-License-Identifier: Apache-2.0
"""JSON and YAML documents of bounded size, and parts of them that have to be there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text

__all__ = ["as_map", "as_maps", "as_names", "as_text", "read_document", "read_json"]

MOST_JSON_BYTES = 2**28
MOST_YAML_BYTES = 2**24
"""A document takes some ten times its size in memory, and YAML a second for each megabyte."""


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        InputError: It is missing, too large, or not JSON.
    """
    text = _bound(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON, or not all of it: {error}") from error


def read_document(path: Path) -> Any:
    """The content of a file in JSON, or else in YAML, all of whose values stay text.

    Raises:
        InputError: It is missing, too large, or neither.
    """
    text = _bound(path)
    if text.lstrip()[:1] in ("{", "["):
        return read_json(path)
    if len(text) > MOST_YAML_BYTES:
        raise InputError(f"{path}: is larger than {MOST_YAML_BYTES} bytes; give it as JSON")
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error


def _bound(path: Path) -> str:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # reading it names the problem
    if size > MOST_JSON_BYTES:
        raise InputError(f"{path}: is larger than {MOST_JSON_BYTES} bytes")
    return read_text(path)


def as_map(path: Path, where: str, value: object) -> Mapping[str, Any]:
    """The value, if it is an object.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, dict):
        raise InputError(f"{path}: {where}: expected an object, got {value!r:.80}")
    return value


def as_maps(path: Path, where: str, value: object) -> list[Mapping[str, Any]]:
    """The value, if it is a list of objects.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, list):
        raise InputError(f"{path}: {where}: expected a list of objects, got {value!r:.80}")
    return [as_map(path, f"{where}[{index}]", each) for index, each in enumerate(value)]


def as_text(path: Path, where: str, value: object) -> str:
    """The value, if it is a name.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, str) or not value:
        raise InputError(f"{path}: {where}: expected a name, got {value!r:.80}")
    return value


def as_names(path: Path, where: str, value: object) -> list[str]:
    """The value, if it is a list of names.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, list):
        raise InputError(f"{path}: {where}: expected a list of names, got {value!r:.80}")
    return [as_text(path, f"{where}[{index}]", each) for index, each in enumerate(value)]
