# SPDX-License-Identifier: Apache-2.0
"""JSON and YAML documents read part by part, and what has to be in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fairlead.errors import InputError
from fairlead.files.json_parts import Part, parts_of, read_parts, read_parts_after
from fairlead.files.whole_file import open_text

__all__ = [
    "as_map",
    "as_maps",
    "as_names",
    "as_text",
    "load_yaml",
    "read_document",
    "read_elements",
    "read_members",
    "require_few",
]

MOST_HOSTS = 2**18
"""Hosts of one topology. The largest machine there is has 158,976 nodes (Fugaku)."""

MOST_YAML_LETTERS = 2**22
"""Longest YAML: it takes a hundred times its size in memory, and JSON does not."""


def read_members(path: Path) -> Iterator[Part]:
    """Members of a JSON document that is an object.

    Raises:
        InputError: It cannot be read, is not JSON, or is a list.
    """
    return _require_object(path, read_parts(path))


def read_elements(path: Path) -> Iterator[Mapping[str, Any]]:
    """Elements of a JSON document that is a list of objects.

    Raises:
        InputError: It cannot be read, is not JSON, or is something else.
    """
    for part in read_parts(path):
        if part.key is not None:
            raise InputError(f"{path}: the document: expected a list, got an object")
        yield as_map(path, part.where, part.value)


def read_document(path: Path) -> Iterator[Part]:
    """Members of a document in JSON, or else in YAML, all of whose values stay text.

    Several documents of Kubernetes in one YAML, between lines `---`, are the items of a list.

    Raises:
        InputError: It cannot be read, is neither, is a list, or is too large for YAML.
    """
    with open_text(path) as stream:
        begun = stream.read(MOST_YAML_LETTERS + 1)
        if begun.lstrip()[:1] in ("{", "["):
            yield from _require_object(path, read_parts_after(path, begun, stream))
        else:
            document = load_yaml(path, begun, "; give it as JSON", may_be_several=True)
            yield from _require_object(path, parts_of(document))


def _require_object(path: Path, parts: Iterator[Part]) -> Iterator[Part]:
    for part in parts:
        if part.key is None:
            raise InputError(f"{path}: the document: expected an object, got a list")
        yield part


def load_yaml(path: Path, text: str, remedy: str = "", *, may_be_several: bool = False) -> Any:
    """The content of YAML, all of whose values stay text: a switch may be called `no` or 007.

    Args:
        path: What errors call it.
        text: The YAML.
        remedy: What to do about one that is too large.
        may_be_several: Whether it may hold several documents, which are given as one of all items.

    Raises:
        InputError: It is too large, or no YAML.
    """
    if len(text) > MOST_YAML_LETTERS:
        raise InputError(f"{path}: is YAML of more than {MOST_YAML_LETTERS} letters{remedy}")
    try:
        if not may_be_several:
            return yaml.load(text, Loader=yaml.BaseLoader)
        documents = [each for each in yaml.load_all(text, Loader=yaml.BaseLoader) if each]
        if len(documents) > 1:
            return {"items": [*_items_of(documents)]}
        return documents[0] if documents else None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error


def _items_of(documents: Iterable[Any]) -> Iterator[Any]:
    """The items of lists, and the documents that are none."""
    for document in documents:
        is_list = isinstance(document, dict) and isinstance(document.get("items"), list)
        yield from document["items"] if is_list else [document]


def require_few(path: Path, num_hosts: int) -> None:
    """Check how many hosts a file has named so far.

    Raises:
        InputError: They are more than any machine has.
    """
    if num_hosts > MOST_HOSTS:
        raise InputError(f"{path}: names more than {MOST_HOSTS} hosts")


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
