# SPDX-License-Identifier: Apache-2.0
"""The narrator of tests."""

from __future__ import annotations

from fairlead.narrator import Narrator


class RecordingNarrator(Narrator):
    """Keeps the lines that a command would print.

    Attributes:
        lines: One for each step.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def report(self, line: str) -> None:
        self.lines.append(line)
