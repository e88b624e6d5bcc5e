# SPDX-License-Identifier: Apache-2.0
"""Files read at once or line by line: no devices, and only up to a bound."""

from __future__ import annotations

import contextlib
import itertools
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fairlead.errors import InputError

__all__ = ["MOST_BYTES", "MOST_LINE_BYTES", "open_text", "read_bytes", "read_lines", "read_text"]

MOST_BYTES = 2**31
"""Largest file or unpacked archive: the traffic of 5000 ranks where each sends to all others."""

_PIECE_BYTES = 2**20
MOST_LINE_BYTES = 2**16
"""Longest line, where a reader does not know better."""


def read_bytes(path: Path | str, most_bytes: int = MOST_BYTES) -> bytes:
    """All of a file.

    Args:
        path: The file.
        most_bytes: Its largest size.

    Raises:
        InputError: It is missing, cannot be read, is a device (which may never end), or is larger.
    """
    path = Path(path)
    try:
        _require_no_device(path)
        with path.open("rb") as stream:
            # In pieces: one large read would allocate its whole size at once.
            pieces = iter(lambda: stream.read(_PIECE_BYTES), b"")
            data = b"".join(itertools.islice(pieces, most_bytes // _PIECE_BYTES + 1))
    except (OSError, ValueError) as error:  # a ValueError is a NUL in the name
        raise _unreadable(path, error) from error
    if len(data) > most_bytes:
        raise InputError(f"{path}: is larger than {most_bytes} bytes")
    return data


def read_lines(
    path: Path | str,
    encoding: str = "utf-8",
    most_bytes: int = MOST_LINE_BYTES,
    *,
    errors: str = "strict",
) -> Iterator[str]:
    """The lines of a text file one after the other, so that no more than one is kept.

    Args:
        path: The file.
        encoding: Encoding of its text.
        most_bytes: Longest line.
        errors: What becomes of what is not in this encoding, as `bytes.decode` has it.

    Raises:
        InputError: As above, a line is longer, or it is not text in this encoding.
    """
    path = Path(path)
    try:
        _require_no_device(path)
        with path.open("rb") as stream:
            pieces = iter(lambda: stream.readline(most_bytes + 1), b"")
            for number, line in enumerate(pieces, 1):
                if len(line) > most_bytes:
                    raise InputError(f"{path}:{number}: is longer than {most_bytes} bytes")
                yield line.decode(encoding, errors).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}:{number}: is not text in {encoding}") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


@contextlib.contextmanager
def open_text(path: Path | str) -> Iterator[IO[str]]:
    """A text file in UTF-8, whose reader says how much of it is kept.

    Raises:
        InputError: As `read_text`, also while it is read.
    """
    path = Path(path)
    try:
        _require_no_device(path)
        with path.open(encoding="utf-8") as stream:
            yield stream
    except (OSError, ValueError) as error:  # a ValueError is what is not in UTF-8, too
        raise _unreadable(path, error) from error


def _require_no_device(path: Path) -> None:
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(f"{path}: is a device, not a file")


def _unreadable(path: Path, error: OSError | ValueError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file")
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(f"{path}: cannot be read: {reason}")


def read_text(path: Path | str, most_bytes: int = MOST_BYTES) -> str:
    """All of a text file in UTF-8.

    Raises:
        InputError: As above, or it is not in UTF-8.
    """
    try:
        return read_bytes(path, most_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
