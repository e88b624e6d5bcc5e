# SPDX-License-Identifier: Apache-2.0
"""Measurements that a run keeps one by one, so that one that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def kept(folder: Path | None, name: str, measure: Callable[[], T]) -> T:
    """What the file of that name in the folder has; without one, what is measured now.

    Args:
        folder: None: nothing is kept.
        name: All that the measurement depends on, without the sources.
        measure: Its result is of JSON's types.
    """
    file = None if folder is None else folder / f"{name}.json"
    if file is not None and file.exists():
        found: T = json.loads(file.read_text())
        return found
    result = measure()
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(result) + "\n")
        new.replace(file)
    return result
