# SPDX-License-Identifier: Apache-2.0
"""Standard streams that every command can use: all are open, and each character has a form."""

from __future__ import annotations

import io
import os
import sys

__all__ = ["prepare_streams"]


def prepare_streams() -> None:
    """Open those that are closed, and let output go on at what its encoding does not have.

    The next file that is opened gets the number of a closed one: a program that is started would
    read or write that file as its own standard stream.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = sys.stdout or _writer(1)
    sys.stderr = sys.stderr or _writer(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Such as "µs" in a locale of ASCII, or the name of a file that is not UTF-8.
            stream.reconfigure(errors="backslashreplace")


def _writer(descriptor: int) -> io.TextIOWrapper:
    return open(descriptor, "w", encoding="utf-8", closefd=False)
