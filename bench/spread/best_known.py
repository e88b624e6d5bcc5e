# SPDX-License-Identifier: Apache-2.0
"""The placement of each workload with the least waiting of all that were found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fairlead.files.archive import write_text
from fairlead.simulation import JobsPlacement, Workload, packaged_workloads

FILE = Path(__file__).with_name("best_known.json")


class BestKnown:
    """Kept as placements, so that each value can be checked; the file has one per line."""

    def __init__(self) -> None:
        self._kept = json.loads(FILE.read_text()) if FILE.exists() else {}
        self._beaten: dict[str, float] = {}

    def placement(self, name: str, workload: Workload) -> JobsPlacement | None:
        """None where nothing is known yet."""
        if name not in self._kept:
            return None
        cores = [np.array(job) for job in self._kept[name]["core_of_rank"]]
        return JobsPlacement(workload.machine, cores, "best known")

    def offer(
        self, name: str, placement: JobsPlacement, waiting_time_s: float, found_by: str
    ) -> None:
        """Keep the placement if its messages, all of them simulated, wait less than is known."""
        known_s = self._kept[name]["waiting_time_s"] if name in self._kept else float("inf")
        if waiting_time_s >= known_s:
            return
        self._beaten.setdefault(name, known_s)
        self._kept[name] = {
            "waiting_time_s": waiting_time_s,
            "found_by": found_by,
            "core_of_rank": [cores.tolist() for cores in placement.core_of_rank],
        }

    def report(self, is_updating: bool) -> None:
        """Print which best known values were beaten, and replace them in the file if requested."""
        for name, before_s in self._beaten.items():
            kept = self._kept[name]
            now_s = kept["waiting_time_s"]
            gain = "first" if before_s == float("inf") else f"{1 - now_s / before_s:.3%} less"
            print(f"best known beaten: {name} by {kept['found_by']}: {now_s:.6g} s ({gain})")
        if self._beaten and is_updating:
            names = [name for name in packaged_workloads() if name in self._kept]
            lines = (f"{json.dumps(name)}: {json.dumps(self._kept[name])}" for name in names)
            write_text(FILE, "{\n" + ",\n".join(lines) + "\n}\n")
        elif self._beaten:
            print("--update keeps these")
