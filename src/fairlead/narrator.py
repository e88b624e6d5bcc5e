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

    def tell(self, line: str) -> None:
        """Take one line about a step that takes time."""

    def progress(self, title: str) -> AbstractContextManager[Progress]:
        """Show a progress bar with this title while the block runs."""
        del title
        return contextlib.nullcontext(lambda _done, _total: None)
