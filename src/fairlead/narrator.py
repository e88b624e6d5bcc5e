# SPDX-License-Identifier: Apache-2.0
"""Messages about progress; the library itself prints nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Narrator", "Progress"]

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""


class Narrator:
    """Ignores all messages; the command line has a subclass that prints them."""

    _has_reported_loss = False

    def report(self, line: str) -> None:
        """Take one line about a step that takes time."""

    def report_loss(self, line: str) -> None:
        """Take a line about something that cannot be kept for later runs; the first one is enough.

        A disk that is full or may not be written to would have a line for each file.
        """
        if not self._has_reported_loss:
            self._has_reported_loss = True
            self.report(line)

    def progress(self, title: str) -> AbstractContextManager[Progress]:
        """Show a progress bar with this title while the block runs."""
        del title
        return contextlib.nullcontext(lambda _done, _total: None)
