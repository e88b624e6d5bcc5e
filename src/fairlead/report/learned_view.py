# SPDX-License-Identifier: Apache-2.0
"""What a run took its traffic for, and what it showed about that."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.files.run_directory import RECORD
from fairlead.watch.past_runs import load_steps

__all__ = ["describe_learned", "read_learned"]


def read_learned(run: Path) -> dict[str, Any]:
    """The facts of a run's record, `guess` and `learned`; none where the folder has no record."""
    if not (run / RECORD).is_file():
        return {}
    try:
        steps = load_steps(run)
    except InputError:
        return {}
    return {name: steps[name] for name in ("guess", "learned") if name in steps}


def describe_learned(steps: Mapping[str, Mapping[str, Any]]) -> str:
    """The same for a user; empty where the traffic was known, and is as it was."""
    guess, learned = steps.get("guess"), steps.get("learned")
    apart = None if learned is None else learned.get("difference")
    shown = "" if apart is None else f"this run's own differs from it by {apart:.1%}"
    if guess is not None:
        source = shlex.join(map(str, guess.get("arguments", ()))) or "no arguments"
        found = shown or "it was not seen whether that is right"
        return f"The traffic was guessed from a run with {source}: {found}."
    if learned is not None and learned.get("is_corrected"):
        return f"The traffic was corrected: {shown}."
    return ""
