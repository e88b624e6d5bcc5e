# SPDX-License-Identifier: Apache-2.0
"""Copies a program's output to several places while it runs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence

__all__ = ["copy_output"]

_CHUNK_BYTES = 1 << 16


@contextlib.contextmanager
def copy_output(
    places: Sequence[int], on_line: Callable[[bytes], None] | None = None
) -> Iterator[int]:
    """A file descriptor for a program to write to; its output is copied to each place.

    Output is passed on at once, also in parts of lines. All writers must have ended before the
    block ends.

    Args:
        places: File descriptors. One that no longer accepts data is skipped, since the program
            would otherwise block on a pipe without a reader.
        on_line: Gets each line with its end, from another thread.
    """
    out, into = os.pipe()
    copier = threading.Thread(target=_copy, args=(out, places, on_line), daemon=True)
    copier.start()
    try:
        yield into
    finally:
        os.close(into)
        copier.join()
        os.close(out)


def _copy(out: int, places: Sequence[int], on_line: Callable[[bytes], None] | None) -> None:
    begun = b""
    while chunk := os.read(out, _CHUNK_BYTES):
        for place in places:
            _write(place, chunk)
        if on_line:
            *lines, begun = (begun + chunk).split(b"\n")
            for line in lines:
                on_line(line + b"\n")
    if on_line and begun:
        on_line(begun)


def _write(place: int, chunk: bytes) -> None:
    # Not through Python's buffers: Python would report an error at its exit if the pipe is closed.
    with contextlib.suppress(OSError):
        while chunk:
            chunk = chunk[os.write(place, chunk) :]
