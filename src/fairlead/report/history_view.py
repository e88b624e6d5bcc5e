# SPDX-License-Identifier: Apache-2.0
"""The runs of a program in the terminal, and as facts for JSON."""

from __future__ import annotations

import shlex
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.report.history import history_sentences, records
from fairlead.report.scales import SECONDS, human
from fairlead.report.terminal_table import table
from fairlead.watch.collective_drift import DriftCounts
from fairlead.watch.history import History

MOST_LINES = 20
"""Number of latest runs that are shown."""


def facts(history: History) -> dict[str, Any]:
    """Stored values, and which placements have proved slower."""
    stored = history.model_dump(mode="json")
    stored["launcher_s"] = history.launcher_s()
    stored["proved_slower"] = sorted(map(list, history.find_dropped()))
    return stored


def view(history: History, width: int) -> RenderableType:
    """The latest runs with predicted and measured times, and a comparison of the placements.

    Args:
        history: The runs.
        width: Columns of the terminal; the table fits 80.
    """
    del width
    runs = records(history)
    title = (
        f"{shlex.join(history.program)} on {history.num_ranks} ranks, {len(history.hosts)} hosts"
    )
    names = ("run", "placement", "predicted", "measured", "afterwards")
    shown = table(names, texts=("run", "placement", "afterwards"))
    for run in runs[-MOST_LINES:]:
        predicted = "-" if run.predicted_s is None else human(run.predicted_s, SECONDS)
        when = run.when.astimezone().isoformat(sep=" ", timespec="minutes")[:16]
        measured = human(run.measured_s, SECONDS)
        shown.add_row(*map(Text, (when, run.placement, predicted, measured, run.outcome)))
    lines = [Text(sentence) for sentence in history_sentences(runs)] if runs else []
    if history.runs and (last := history.runs[-1]).guessed_from is not None:
        source = shlex.join(last.guessed_from) or "no arguments"
        apart = "" if last.difference is None else f", and differed by {last.difference:.1%}"
        lines.append(Text(f"The latest run's traffic was guessed from {source}{apart}."))
    if history.runs and (drift := history.runs[-1].drift) is not None:
        lines.append(Text(f"In the latest run {drift_sentence(drift)}."))
    return Group(Text(title, style="bold"), Text(), shown, Text(), *lines)


def drift_sentence(counts: DriftCounts) -> str:
    """The counts for a user, in one sentence."""
    if counts.windows == 0:
        return "collectives were watched: too few calls for a comparison"
    sentence = (
        f"collectives were watched: {counts.calls} calls, {counts.drifts} of {counts.windows} "
        f"windows drifted"
    )
    if counts.probes:
        sentence += f"; {counts.probes} probes, at most {counts.longest_stop_s:.2g} s each"
    if counts.comparisons:
        sentence += (
            f"; {counts.replacements} of {counts.comparisons} other schedules, or the MPI's own "
            "calls, were faster and are used"
        )
    return sentence
