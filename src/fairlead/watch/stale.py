# SPDX-License-Identifier: Apache-2.0
"""Marks the plan of a run as stale, so that nothing is decided on its network any more."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from fairlead.files.archive import write_text
from fairlead.measure import profile_cache
from fairlead.watch.drift import DRIFT_RATIO
from fairlead.watch.plan_watch import DriftedPair

__all__ = ["STALE", "is_stale", "mark_stale"]

STALE = "stale.json"
"""File in the folder of a run; it records since when, and which pairs have drifted."""


def mark_stale(folder: Path, drifted: Sequence[DriftedPair], profile: Path | None) -> None:
    """Say in the folder of a run that its plan is stale, and forget the network it was made from.

    Args:
        folder: Folder of the run.
        drifted: What has changed.
        profile: The network as it is kept for later runs, whose kept decisions go with it; None
            where none is.

    Raises:
        InputError: The folder cannot be written.
    """
    if profile is not None:
        profile_cache.forget(profile)
    record = {
        "kind": "stale",
        "version": 1,
        "since": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "drift_ratio": DRIFT_RATIO,
        "pairs": [pair._asdict() for pair in drifted],
    }
    write_text(folder / STALE, json.dumps(record, indent=2) + "\n")


def is_stale(folder: Path) -> bool:
    """Whether the plan of a run was marked."""
    return (folder / STALE).is_file()
