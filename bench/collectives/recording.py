# SPDX-License-Identifier: Apache-2.0
"""Simulated times that are kept in a file of the repository, as runs take long."""

from __future__ import annotations

import json
from pathlib import Path

Times = dict[str, dict[str, float | None]]
"""Seconds by name, of each cell `cloud/hosts/model/operation/bytes`; None where it fails."""

FOLDER = Path(__file__).parent / "recorded"


class Recording:
    """The times of one file; written at each change."""

    def __init__(self, path: Path, how: str, is_new: bool = False) -> None:
        self._path, self._how = path, how
        is_there = path.exists() and not is_new
        self.times: Times = json.loads(path.read_text())["times_s"] if is_there else {}

    def row(self, cell: str) -> dict[str, float | None]:
        """What was timed of a cell."""
        return self.times.get(cell, {})

    def add(self, cell: str, name: str, time_s: float | None) -> None:
        """Keep one time."""
        rounded = None if time_s is None else float(f"{time_s:.6g}")
        self.times.setdefault(cell, {})[name] = rounded
        self._path.parent.mkdir(exist_ok=True)
        rows = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(self.times.items())
        )
        self._path.write_text(f'{{"how": {json.dumps(self._how)},\n "times_s": {{\n{rows}\n}}}}\n')
