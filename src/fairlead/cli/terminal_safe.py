# SPDX-License-Identifier: Apache-2.0
"""Text without control characters for the terminal."""

from __future__ import annotations

import re

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line end, and those that turn the direction of writing."""


def terminal_safe(text: str) -> str:
    r"""The text with each control character in the form "\x1b"."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)
