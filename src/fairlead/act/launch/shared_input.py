# SPDX-License-Identifier: Apache-2.0
"""One standard input for several runs of a program."""

from __future__ import annotations

import contextlib
import os
import select
import tempfile
import threading
import weakref
from collections.abc import Iterator
from typing import IO

from fairlead.errors import InputError

__all__ = ["SharedInput"]

_CHUNK_BYTES = 1 << 16


class SharedInput:
    """Standard input that each of several runs reads from its beginning.

    A pipe can be read only once, so its data are kept in a temporary file. They are read as they
    arrive, and no further than a run needs, so that a pipe that stays open delays no run. Input
    from a terminal is not kept; every run reads the terminal itself.
    """

    def __init__(self, source: int = 0) -> None:
        """Share this file descriptor; nothing is read yet."""
        self._source = source
        self._kept: IO[bytes] | None = None
        self._problem: OSError | None = None

    @contextlib.contextmanager
    def open(self, *, last: bool = False) -> Iterator[int]:
        """A file descriptor that one run may read while the block lasts.

        Args:
            last: No other run follows. If there was none before either, the run gets the source
                itself.

        Raises:
            InputError: There is no space to keep the data.
        """
        if (last and self._kept is None) or os.isatty(self._source):
            yield self._source
            return
        # A launcher forwards its standard input to a rank anyway, so a pipe makes no difference.
        out, into = os.pipe()
        stop, stopper = os.pipe()
        feeder = threading.Thread(target=self._feed, args=(into, stop), daemon=True)
        feeder.start()
        try:
            yield out
        finally:
            os.close(out)
            os.close(stopper)
            feeder.join()
            os.close(stop)
            if self._problem is not None:
                raise InputError(
                    f"standard input: cannot be kept for the next run in {tempfile.gettempdir()}: "
                    f"{self._problem.strerror}"
                ) from self._problem

    def _feed(self, into: int, stop: int) -> None:
        # When the other end is closed, the run has ended or reads no more.
        with contextlib.suppress(BrokenPipeError), os.fdopen(into, "wb", _CHUNK_BYTES) as pipe:
            try:
                if self._kept is None:
                    self._kept = tempfile.TemporaryFile()  # noqa: SIM115 (the next run reads it)
                    weakref.finalize(self, self._kept.close)
                self._kept.seek(0)
                while chunk := self._kept.read(_CHUNK_BYTES) or self._more(stop):
                    pipe.write(chunk)
                    pipe.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                self._problem = error

    def _more(self, stop: int) -> bytes:
        """The next part of the source, kept; nothing at its end, or when `stop` is closed."""
        ready, _, _ = select.select([self._source, stop], [], [])
        chunk = b"" if stop in ready else os.read(self._source, _CHUNK_BYTES)
        assert self._kept is not None
        self._kept.write(chunk)
        self._kept.flush()
        return chunk
