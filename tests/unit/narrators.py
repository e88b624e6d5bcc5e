# SPDX-License-Identifier: Apache-2.0
"""The narrator of tests."""

from __future__ import annotations

from fairlead.narrator import Narrator


class Told(Narrator):
    """Keeps what the user is told.

    Attributes:
        lines: One for each step.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def tell(self, line: str) -> None:
        self.lines.append(line)
