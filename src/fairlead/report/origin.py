# SPDX-License-Identifier: Apache-2.0
"""What a file says of its own making, as short lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def origin_lines(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each fact as its name in plain words and its value as text; nested facts on one line."""
    return [(str(name).replace("_", " "), _text(value)) for name, value in origin.items()]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return " ".join(_text(part) for part in value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return "unknown" if value is None else str(value)
