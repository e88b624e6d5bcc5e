# SPDX-License-Identifier: Apache-2.0
"""Who tells the user what is going on; the library itself says nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

__all__ = ["Narrator", "Progress"]

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""


class Narrator:
    """Says nothing; the command line has one that does."""

    def tell(self, line: str) -> None:
        """Receive one line about a step that takes time."""

    def progress(self, title: str) -> AbstractContextManager[Progress]:
        """Show a progress bar while the block runs; `title` says of what."""
        del title
        return contextlib.nullcontext(lambda _done, _total: None)
