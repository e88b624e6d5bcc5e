# SPDX-License-Identifier: Apache-2.0
"""The history of a program on its page."""

from __future__ import annotations

import datetime

from report_samples import save_run

from fairlead.report import run_files, write_report
from fairlead.report.history import (
    RunRecord,
    history_chart,
    history_of,
    history_sentences,
    history_table,
)

HOSTS = [f"node{number}" for number in range(8)]
NOON = datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.timezone.utc)
RUNS = [
    RunRecord(NOON, "launcher", None, 6.0),
    RunRecord(NOON + datetime.timedelta(minutes=1), "optimize", 3.0, 4.5, "kept"),
    RunRecord(NOON + datetime.timedelta(minutes=2), "optimize", 3.0, 3.5, "kept"),
    RunRecord(NOON + datetime.timedelta(minutes=3), "<scotch>", 2.0, 8.0, "dropped"),
]


def test_sentences_compare_medians_and_name_what_was_dropped():
    # The median of 4.5 and 3.5 is 4: 6 / 4 = 1.5.
    assert history_sentences(RUNS) == [
        "optimize: 4.00 s in the median of 2 runs; launcher: 6.00 s in the median of 1 run; "
        "<scotch>: 8.00 s in the median of 1 run.",
        "With optimize the program was 1.50 times as fast as with launcher.",
        "With <scotch> the program was 0.75 times as fast as with launcher.",
        "Proved slower, and is not taken again: <scotch>.",
    ]


def test_table_has_predicted_and_measured_the_latest_first():
    table = history_table(RUNS)

    rows = table.partition("<tbody>")[2].split("</tr>")
    assert "2024-01-31 12:03+00:00" in rows[0]
    assert "&lt;scotch&gt;</td><td>2.00 s</td><td>8.00 s</td><td>4.00</td><td>dropped" in rows[0]
    assert "launcher</td><td>–</td><td>6.00 s</td><td>–</td><td></td>" in rows[3]


def test_chart_has_each_run_and_each_prediction():
    traces = {trace["name"]: trace for trace in history_chart(RUNS).figure["data"]}

    assert list(traces) == ["launcher", "optimize", "&lt;scotch&gt;", "predicted"]
    assert (traces["optimize"]["x"], traces["optimize"]["y"]) == ([2, 3], [4.5, 3.5])
    assert (traces["predicted"]["x"], traces["predicted"]["y"]) == ([2, 3, 4], [3.0, 3.0, 2.0])


def test_section_is_there_with_a_history_only(tmp_path, monkeypatch):
    without = write_report(save_run(tmp_path, HOSTS), tmp_path / "report.html")
    monkeypatch.setattr(run_files, "history_of", lambda folder: RUNS if folder.is_dir() else ())

    found = write_report(tmp_path, tmp_path / "report.html")

    assert history_of(tmp_path) == ()
    assert "History of this program" not in without
    assert found == [without[0], "History of this program", *without[1:]]
