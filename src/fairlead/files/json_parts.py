# SPDX-License-Identifier: Apache-2.0
"""A JSON document read part by part: members of an object, and elements of lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from fairlead.errors import InputError
from fairlead.files.whole_file import open_text

__all__ = ["MOST_PART_LETTERS", "Part", "parts_of", "read_parts", "read_parts_after"]

MOST_PART_LETTERS = 2**24
"""Longest member or element; it takes some ten times its size in memory while it is decoded."""

_PIECE_LETTERS = 2**20
_AFTER = tuple(" \t\n\r,:]}")
_LONGEST_REST = 2
"""Letters of a number that are no number with what is before them: `e+`."""

_SPACES = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Part(NamedTuple):
    """A part of a document.

    Attributes:
        key: Name of the member of the document; None where the document is a list.
        at: Position in a list that is a member or the document; None: the member itself.
        value: What it holds.
    """

    key: str | None
    at: int | None
    value: Any

    @property
    def where(self) -> str:
        """What errors call it."""
        place = "" if self.at is None else f"[{self.at}]"
        return f"{self.key or ''}{place}"


def parts_of(document: Any) -> Iterator[Part]:
    """The same parts of a document that is in memory; none of what is no object and no list."""
    if isinstance(document, list):
        yield from (Part(None, index, value) for index, value in enumerate(document))
    elif isinstance(document, dict):
        for key, value in document.items():
            if isinstance(value, list) and value:
                yield from (Part(key, index, each) for index, each in enumerate(value))
            else:
                yield Part(key, None, value)


def read_parts(path: Path) -> Iterator[Part]:
    """Members of a document that is an object, elements of it and of members that are lists.

    No more than one part is kept. An empty list is a part itself.

    Raises:
        InputError: It cannot be read, is not JSON, is neither object nor list, or has a part that
            is too large.
    """
    with open_text(path) as stream:
        yield from read_parts_after(path, "", stream)


def read_parts_after(path: Path, begun: str, stream: IO[str]) -> Iterator[Part]:
    """The same of a file that has been begun.

    Args:
        path: What errors call it.
        begun: What was read of it.
        stream: The rest.

    Raises:
        InputError: As `read_parts`.
    """
    text = _Text(path, begun, stream)
    first = text.next_letter()
    if first == "{":
        yield from _members(text)
    elif first == "[":
        yield from (Part(None, index, value) for index, value in _elements(text))
    else:
        raise text.error("expected an object or a list")
    if text.next_letter():
        raise text.error("expected the end of the document")


class _Text:
    """The part of a file that is being decoded."""

    def __init__(self, path: Path, begun: str, stream: IO[str]) -> None:
        self._path = path
        self._stream = stream
        self._text = begun
        self._at = 0
        self._line = 1

    def error(self, problem: str, at: int | None = None) -> InputError:
        """What is wrong at a place; None: where the next value begins."""
        line = self._line + self._text.count("\n", 0, self._at if at is None else at)
        return InputError(f"{self._path}:{line}: is not JSON, or not all of it: {problem}")

    def next_letter(self) -> str:
        """The next letter that is no space, which is not taken; empty at the end."""
        while True:
            found = _SPACES.match(self._text, self._at)
            self._at = self._at if found is None else found.end()
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def take(self, letter: str) -> None:
        """Pass over a letter that has to be there."""
        if self.next_letter() != letter:
            raise self.error(f"expected {letter!r}")
        self._at += 1

    def take_comma_before(self, end: str) -> None:
        """Pass over the comma between two parts, of which the last has none."""
        if self.next_letter() != end:
            self.take(",")
            if self.next_letter() == end:
                raise self.error("expected a part after the comma")

    def value(self) -> Any:
        """Decode the value that begins here."""
        if not self.next_letter():
            raise self.error("expected a value")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                problem, at = error.msg, error.pos
            except RecursionError:
                raise self.error("is nested too deeply") from None
            else:
                # A number may go on in the next piece: 1.5 and 1.5e are the begin of 1.5e+16.
                is_whole = self._text[end : end + 1] in _AFTER
                if is_whole or len(self._text) - end > _LONGEST_REST or not self._more():
                    self._at = end
                    return value
                continue
            is_too_long = len(self._text) - self._at > MOST_PART_LETTERS
            if is_too_long:
                problem = f"{problem}, in a part of more than {MOST_PART_LETTERS} letters"
            if is_too_long or not self._more():
                raise self.error(problem, at)

    def _more(self) -> bool:
        """Read a piece as large as what is left, so that decoding anew costs twice at most."""
        kept = self._text[self._at :]
        piece = self._stream.read(max(_PIECE_LETTERS, len(kept)))
        if not piece:
            return False
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = kept + piece, 0
        return True


def _members(text: _Text) -> Iterator[Part]:
    text.take("{")
    while text.next_letter() != "}":
        key = text.value()
        if not isinstance(key, str):
            raise text.error("expected the name of a member")
        text.take(":")
        if text.next_letter() == "[":
            count = 0
            for index, value in _elements(text):
                yield Part(key, index, value)
                count += 1
            if not count:
                yield Part(key, None, [])
        else:
            yield Part(key, None, text.value())
        text.take_comma_before("}")
    text.take("}")


def _elements(text: _Text) -> Iterator[tuple[int, Any]]:
    text.take("[")
    index = 0
    while text.next_letter() != "]":
        yield index, text.value()
        index += 1
        text.take_comma_before("]")
    text.take("]")
