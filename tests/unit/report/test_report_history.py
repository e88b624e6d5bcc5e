# SPDX-License-Identifier: Apache-2.0
"""The history of a program on its page."""

from __future__ import annotations

import datetime
import json
from typing import Any

from report_samples import save_run
from typer.testing import CliRunner

from fairlead.cli import app
from fairlead.files.run_directory import HISTORY
from fairlead.report.history import (
    RunRecord,
    history_chart,
    history_of,
    history_sentences,
    history_table,
    records,
)
from fairlead.report.page import write_report
from fairlead.watch.history import History, RunTime

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
        "Proved slower, and left out until network or load change: <scotch>.",
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


def test_section_is_there_with_a_history_only(tmp_path):
    without = write_report(save_run(tmp_path, HOSTS), tmp_path / "report.html")
    assert history_of(tmp_path) == ()
    kept_history().save(tmp_path / HISTORY)

    found = write_report(tmp_path, tmp_path / "report.html")

    assert "History of this program" not in without
    assert found == [*without[:2], "History of this program", *without[2:]]


def kept_history() -> History:
    def run(minute: int, seconds: float, host_of_rank: tuple[str, ...] | None, **more: Any):
        when = NOON + datetime.timedelta(minutes=minute)
        method = "optimize" if host_of_rank else "launcher"
        return RunTime(
            when=when, folder="f", method=method, host_of_rank=host_of_rank, seconds=seconds, **more
        )

    runs = (
        run(0, 6.0, None, is_traced=True),
        run(1, 4.0, ("a", "b"), predicted_s=3.0),
        run(2, 6.0, None),
        run(3, 6.2, None),
        *(run(minute, 9.0, ("b", "a"), predicted_s=3.0) for minute in (4, 5, 6)),
        run(7, 6.5, None, predicted_s=6.0),
    )
    return History(program=("./solve", "x y"), num_ranks=2, hosts=("a", "b"), runs=runs)


def test_history_of_a_run_tells_what_became_of_each_placement(tmp_path):
    kept_history().save(tmp_path / "history.json")

    found = history_of(tmp_path)

    assert [one.outcome for one in found] == ["traced", "kept", "", "", *["dropped"] * 3, ""]
    assert [one.measured_s for one in found] == [6.0, 4.0, 6.0, 6.2, 9.0, 9.0, 9.0, 6.5]


def test_placements_of_one_method_are_distinguished():
    runs = records(kept_history())

    assert [one.placement for one in runs[:5]] == [
        *("launcher", "optimize", "launcher", "launcher", "optimize 2")
    ]
    sentences = history_sentences(runs)
    assert "With optimize the program was 1.52 times as fast as with launcher." in sentences
    assert "With optimize 2 the program was 0.68 times as fast as with launcher." in sentences
    assert sentences[-1] == "Proved slower, and left out until network or load change: optimize 2."


def test_damaged_history_leaves_the_page_as_it_is(tmp_path):
    (tmp_path / "history.json").write_text("{")
    assert history_of(tmp_path) == ()


def test_show_tells_predicted_and_measured_time_of_each_run(tmp_path):
    kept_history().save(tmp_path / "history.json")
    done = CliRunner().invoke(app, ["show", str(tmp_path)], env={"COLUMNS": "80"})
    rows = [line.split() for line in done.output.splitlines()]
    assert "./solve 'x y' on 2 ranks, 2 hosts" in done.output
    assert ["optimize", "2", "3.00", "s", "9.00", "s", "dropped"] in [row[2:] for row in rows]
    assert max(map(len, done.output.splitlines())) <= 80


def test_show_json_names_placements_that_proved_slower(tmp_path):
    kept_history().save(tmp_path / "history.json")
    done = CliRunner().invoke(app, ["show", "--json", str(tmp_path / "history.json")])
    assert json.loads(done.output)["proved_slower"] == [["b", "a"]]
