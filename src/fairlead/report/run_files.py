# SPDX-License-Identifier: Apache-2.0
"""The files of one run that a report can show."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairlead.errors import InputError
from fairlead.files.run_directory import COMPARISON, NETWORK, PLACEMENT, TRAFFIC
from fairlead.flows.compare.comparison import Comparison
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.report.decision_view import Steps
from fairlead.report.files import Content, load_any
from fairlead.report.history import RunRecord, history_of
from fairlead.simulation import JobsRecord
from fairlead.simulation.jobs_record import JOBS
from fairlead.watch.past_runs import load_steps

RUN_FILES = (NETWORK, TRAFFIC, PLACEMENT, COMPARISON, JOBS)
"""Names of the files in a run's folder of which a report shows all that are there."""

_FIELDS: dict[type, str] = {
    Network: "network",
    Traffic: "traffic",
    Placement: "placement",
    Comparison: "comparison",
    JobsRecord: "jobs",
}


@dataclasses.dataclass(frozen=True)
class RunFiles:
    """The files of a run; there is at least one."""

    network: Network | None = None
    traffic: Traffic | None = None
    placement: Placement | None = None
    comparison: Comparison | None = None
    jobs: JobsRecord | None = None
    history: Sequence[RunRecord] = ()
    steps: Steps = dataclasses.field(default_factory=dict)

    @classmethod
    def load(cls, paths: Path | Sequence[Path]) -> RunFiles:
        """Read a run folder, or files named one by one.

        Raises:
            InputError: A file is damaged, nothing to show is there, two files are of one kind, or
                files do not belong together.
        """
        found: dict[str, Content] = {}
        for path in _files([paths] if isinstance(paths, Path) else list(paths)):
            content = load_any(path)
            field = _FIELDS.get(type(content))
            if field is None:
                raise InputError(f"{path}: not a part of a page; fairlead show prints it")
            if field in found:
                raise InputError(f"{path}: a second {field}; a report shows one")
            found[field] = content
        folder = paths if isinstance(paths, Path) else paths[0] if len(paths) == 1 else None
        run = folder if folder is not None and folder.is_dir() else None
        history = () if run is None else history_of(run)
        steps = {} if run is None else _steps_of(run)
        files = cls(**found, history=history, steps=steps)  # type: ignore[arg-type]
        files._require_same_ranks()
        return files

    def before(self) -> Placement | None:
        """The baseline's placement, where a comparison or the record of a run has it."""
        if self.comparison is None:
            return _launchers(self.steps)
        return self.comparison.placement(self.comparison.baseline)

    def after(self) -> Placement | None:
        """The placement that was chosen, else the best one by its times or predictions."""
        if self.placement is not None:
            return self.placement
        if self.comparison is None:
            return None
        return self.comparison.placement(_best_method(self.comparison))

    def _require_same_ranks(self) -> None:
        counts = {
            name: part.num_ranks
            for name in ("traffic", "placement", "comparison")
            if (part := getattr(self, name)) is not None
        }
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} has {ranks}" for name, ranks in counts.items())
            raise InputError(f"the files do not belong together: num_ranks: {listed}")


def _steps_of(folder: Path) -> Steps:
    """The steps of a run's record; none where there is no record: the page shows the rest."""
    try:
        return load_steps(folder)
    except InputError:
        return {}


def _launchers(steps: Steps) -> Placement | None:
    """Where the launcher placed the ranks, as it was observed."""
    names = steps.get("launcher", {}).get("host_of_rank")
    if not names:
        return None
    hosts = list(dict.fromkeys(names))
    return Placement(hosts, np.array([hosts.index(name) for name in names]), "launcher")


def _best_method(comparison: Comparison) -> str:
    """The fastest method; where the baseline is as fast, the one predicted to be fastest."""
    fastest = comparison.fastest()
    others = [method for method in comparison.distinct() if method != comparison.baseline]
    if not others or not comparison.is_tie(fastest, comparison.baseline):
        return fastest

    def predicted_s(method: str) -> float:
        cost_s = comparison.methods[method].predicted.comm_time_s
        return math.inf if cost_s is None else cost_s

    return min(others, key=predicted_s)


def _files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        here = [path / name for name in RUN_FILES if (path / name).exists()]
        if not here:
            raise InputError(f"{path}: not a run folder: it has none of {', '.join(RUN_FILES)}")
        files += here
    return files
