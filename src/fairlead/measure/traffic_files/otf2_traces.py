# SPDX-License-Identifier: Apache-2.0
"""OTF2 traces, as Score-P writes them: the messages between ranks, added up.

Collective calls are counted and left out: what a trace says of their sizes differs between tools.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.files.package_folders import data_folder
from fairlead.measure.traffic_files.rank_matrix import MAX_RANKS, RankMatrix, traffic_of
from fairlead.model.traffic import Traffic, Untraced

__all__ = ["read_otf2"]

PYTHONS = (sys.executable, "/usr/bin/python3")
"""Tried in turn: distributions install the module for their own Python."""

NO_MODULE = 3

MOST_LETTERS = 300
"""Longest message of the module that is passed on."""


def read_otf2(path: Path) -> Traffic:
    """Read a trace by its anchor file, `traces.otf2`.

    Raises:
        InputError: No Python has the module otf2, it is no trace, or it has no ranks of MPI.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    found = _add_up(path)
    num_ranks = found["num_ranks"]
    if not 0 < num_ranks <= MAX_RANKS:
        raise InputError(f"{path}: has {num_ranks} ranks of MPI; expected 1 to {MAX_RANKS}")
    sent = RankMatrix()
    for row in found["sent"]:
        sent.add(*row)
    origin: dict[str, Any] = {"how": "given", "file": str(path), "counted_by": "OTF2"}
    if found["num_collective_calls"]:
        origin["left_out"] = f"{found['num_collective_calls']} collective calls"
    lost = Untraced(messages=found["lost_messages"], bytes=found["lost_bytes"])
    return dataclasses.replace(traffic_of(sent, RankMatrix(), num_ranks, origin), untraced=lost)


def _end_of(text: str) -> str:
    """The last lines of a message, whole ones."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    first = len(lines) - 1
    while first > 0 and sum(map(len, lines[first - 1 :])) <= MOST_LETTERS:
        first -= 1
    return " ".join(lines[max(first, 0) :])[:MOST_LETTERS]


def _add_up(path: Path) -> dict[str, Any]:
    """What a Python with the module adds up.

    Raises:
        InputError: None has it, or it is no trace.
    """
    program = data_folder("measure/traffic_files") / "otf2_events.py"
    for python in PYTHONS:
        try:
            done = subprocess.run(
                [python, str(program), str(path)], capture_output=True, text=True, check=False
            )
        except OSError:
            continue
        if done.returncode == NO_MODULE:
            continue
        if done.returncode != 0:
            reason = _end_of(done.stderr)
            raise InputError(f"{path}: cannot be read as OTF2: {reason}")
        result: dict[str, Any] = json.loads(done.stdout)
        return result
    raise InputError(
        f"{path}: reading OTF2 needs its Python module (Debian, Ubuntu: python3-otf2), which none "
        f"of {', '.join(PYTHONS)} has"
    )
