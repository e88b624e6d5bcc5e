# SPDX-License-Identifier: Apache-2.0
"""The times of a program's runs, and which placement has proved slower."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.watch import history
from fairlead.watch.history import MOST_RUNS, History, RunTime

PLACED = ("a", "b")
PLACEMENT = fl.Placement(["a", "b"], np.array([0, 1]))
EMPTY = History(program=("solver",), num_ranks=2, hosts=("a", "b"))


def run(
    seconds: float, host_of_rank: tuple[str, ...] | None = None, *, is_tuned: bool = False
) -> RunTime:
    return RunTime(
        when=history.now(), folder="f", method="m", host_of_rank=host_of_rank, seconds=seconds,
        is_tuned=is_tuned,
    )  # fmt: skip


def kept(*runs: RunTime) -> History:
    return EMPTY.model_copy(update={"runs": runs})


def test_a_placement_whose_best_run_is_slower_has_proved_so() -> None:
    assert kept(run(10), run(11, PLACED)).has_proved_slower(PLACEMENT)
    assert not kept(run(10), run(9, PLACED)).has_proved_slower(PLACEMENT)


def test_one_run_disturbed_by_other_load_proves_nothing_against_a_better_one() -> None:
    assert not kept(run(10), run(30, PLACED), run(9, PLACED)).has_proved_slower(PLACEMENT)
    assert kept(run(30), run(10), run(11, PLACED)).has_proved_slower(PLACEMENT)


def test_a_difference_that_starting_explains_proves_nothing() -> None:
    assert not kept(run(3.0), run(3.4, PLACED)).has_proved_slower(PLACEMENT)
    assert kept(run(3.0), run(3.7, PLACED)).has_proved_slower(PLACEMENT)


def test_tuned_collectives_are_compared_on_the_same_placement() -> None:
    assert kept(run(10), run(11, is_tuned=True)).has_tuning_proved_slower(None)
    assert not kept(run(10), run(9, is_tuned=True)).has_tuning_proved_slower(None)
    assert not kept(run(10), run(11, PLACED, is_tuned=True)).has_tuning_proved_slower(PLACED)


def test_usual_time_without_fairlead_leaves_tuned_runs_out() -> None:
    several = kept(run(10), run(12), run(11), run(3, is_tuned=True))

    assert several.launcher_s() == 11
    assert several.usual_s(None, is_tuned=True) == 3


def test_nothing_is_proved_without_a_run_of_each() -> None:
    assert not kept(run(11, PLACED)).has_proved_slower(PLACEMENT)
    assert not kept(run(10)).has_proved_slower(PLACEMENT)
    assert not kept(run(10), run(11, ("b", "a"))).has_proved_slower(PLACEMENT)


def test_the_launchers_time_is_the_median_of_its_runs() -> None:
    assert kept(run(10), run(30), run(11), run(5, PLACED)).launcher_s() == 11
    assert EMPTY.launcher_s() is None


def test_runs_come_back_in_order_and_the_oldest_go_first(tmp_path: Path) -> None:
    path = tmp_path / "history" / "h.json"
    for number in range(3):
        history.add(path, EMPTY, run(number))
    assert [one.seconds for one in history.recall(path, EMPTY).runs] == [0, 1, 2]
    grown = history.add(path, EMPTY, *(run(number) for number in range(MOST_RUNS)))
    assert len(grown.runs) == MOST_RUNS
    assert grown.runs[0].seconds == 0


def _add_ten(path: Path) -> None:
    for _ in range(10):
        history.add(path, EMPTY, run(1.0))


def test_runs_of_processes_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(_add_ten, [path] * 3)
    assert len(history.recall(path, EMPTY).runs) == 30


@pytest.mark.parametrize(
    ("text", "field"),
    [("{", "damaged"), ('{"kind": "history", "runs": 3}', "program"), ("[]", "Input should be")],
)
def test_a_damaged_history_is_named_and_begun_anew(tmp_path: Path, text: str, field: str) -> None:
    path = tmp_path / "h.json"
    path.write_text(text)
    with pytest.raises(fl.InputError, match=f"h.json: {field}"):
        History.load(path)
    assert history.recall(path, EMPTY) == EMPTY
    assert history.add(path, EMPTY, run(1.0)).runs[0].seconds == 1.0
