# SPDX-License-Identifier: Apache-2.0
"""The best placement of each instance that any method or long run has found."""

from __future__ import annotations

import json
from pathlib import Path

from instances import PATTERNS, Instance

from fairlead.files.archive import write_text

FILE = Path(__file__).with_name("best_known.json")

LEAST_GAIN = 1e-9
"""Relative to the value; smaller differences may come from the order of summation."""


class BestKnown:
    """Kept as placements, so that each value can be checked; the file has one per line."""

    def __init__(self, instances: list[Instance]) -> None:
        self._kept = json.loads(FILE.read_text()) if FILE.exists() else {}
        self._beaten: dict[str, float] = {}
        self._is_changed = False
        self._values = {
            instance.name: instance.value(self._kept[instance.name]["host_of_task"])
            for instance in instances
            if instance.name in self._kept
        }

    def value(self, instance: Instance) -> float:
        return self._values[instance.name]

    def num_searches(self, instance: Instance) -> int:
        """How often search.py has searched this instance."""
        return int(self._kept.get(instance.name, {}).get("num_searches", 0))

    def count(self, instance: Instance, cpu_s: float) -> None:
        """Note that search.py has searched this instance once more, and the core's seconds."""
        kept = self._kept[instance.name]
        kept["num_searches"] = kept.get("num_searches", 0) + 1
        kept["searched_s"] = round(kept.get("searched_s", 0.0) + cpu_s, 3)
        self._is_changed = True

    def offer(
        self,
        instance: Instance,
        host_of_task: list[int],
        found_by: str,
        seconds: float,
        seed: int,
        *,
        is_searched: bool = False,
    ) -> None:
        """Keep the placement if it is better than what is known, and how it was found.

        One that search.py finds replaces an equal one of which it is not known how it was found.
        """
        value = instance.value(host_of_task)
        known = self._values.get(instance.name, float("inf"))
        searched = self._kept.get(instance.name, {})
        is_better = value < known * (1 - LEAST_GAIN)
        if is_better:
            self._beaten.setdefault(instance.name, known)
        is_equal = value <= known * (1 + LEAST_GAIN)
        if is_better or (is_searched and is_equal and "seconds" not in searched):
            self._is_changed = True
            self._values[instance.name] = value
            self._kept[instance.name] = {
                "value": round(value, 6),
                "found_by": found_by,
                "seconds": round(seconds, 3),
                "seed": seed,
                "num_searches": searched.get("num_searches", 0),
                "searched_s": searched.get("searched_s", 0.0),
                "host_of_task": host_of_task,
            }

    def report(self, is_updating: bool) -> None:
        """Print which best known values were beaten, and replace them in the file if requested."""
        for name, before in self._beaten.items():
            found_by = self._kept[name]["found_by"]
            gain = "first" if before == float("inf") else f"{1 - self._values[name] / before:.4%}"
            print(f"best known beaten: {name} by {found_by}: {self._values[name]:.2f} ({gain})")
        if (self._beaten or self._is_changed) and is_updating:
            names = [name for name in PATTERNS if name in self._kept]
            lines = (f"{json.dumps(name)}: {json.dumps(self._kept[name])}" for name in names)
            write_text(FILE, "{\n" + ",\n".join(lines) + "\n}\n")
            self._beaten.clear()
        elif self._beaten:
            print("--update keeps these")
