# SPDX-License-Identifier: Apache-2.0
"""Files read at once: no devices, and only up to a bound."""

from __future__ import annotations

import itertools
import stat
from pathlib import Path

from fairlead.errors import InputError

__all__ = ["MOST_BYTES", "read_bytes", "read_text"]

MOST_BYTES = 2**31
"""Largest file or unpacked archive: the traffic of 5000 ranks where each sends to all others."""

_PIECE_BYTES = 2**20


def read_bytes(path: Path | str) -> bytes:
    """All of a file.

    Raises:
        InputError: It is missing, cannot be read, is a device (which may never end), or has more
            than MOST_BYTES.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise InputError(f"{path}: is a device, not a file")
        with path.open("rb") as stream:
            # In pieces: one large read would allocate its whole size at once.
            pieces = iter(lambda: stream.read(_PIECE_BYTES), b"")
            data = b"".join(itertools.islice(pieces, MOST_BYTES // _PIECE_BYTES + 1))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:  # a ValueError is a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read: {reason}") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES} bytes")
    return data


def read_text(path: Path | str) -> str:
    """All of a text file in UTF-8.

    Raises:
        InputError: As above, or it is not in UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
