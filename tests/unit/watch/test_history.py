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


def test_a_short_program_that_is_slower_in_each_of_several_runs_is_found() -> None:
    slower = [run(seconds, PLACED) for seconds in (1.45, 1.47, 1.46, 1.52)]
    assert kept(run(1.2), *slower).has_proved_slower(PLACEMENT)
    assert not kept(run(1.2), slower[0]).has_proved_slower(PLACEMENT)
    assert not kept(run(1.42), *slower).has_proved_slower(PLACEMENT)


def test_the_more_runs_there_are_the_less_of_their_best_is_put_down_to_starting() -> None:
    assert not kept(run(1.2), run(1.6, PLACED)).has_proved_slower(PLACEMENT)
    assert kept(run(1.2), run(1.6, PLACED), run(1.9, PLACED)).has_proved_slower(PLACEMENT)


def test_runs_that_differ_widely_prove_nothing() -> None:
    varied = [run(seconds, PLACED) for seconds in (1.5, 2.1, 2.8)]
    assert not kept(run(1.2), *varied).has_proved_slower(PLACEMENT)
    long = [run(seconds, PLACED) for seconds in (110, 118, 140)]
    assert not kept(run(100), *long).has_proved_slower(PLACEMENT)
    assert kept(run(100), *long, *[run(111, PLACED)] * 5).has_proved_slower(PLACEMENT)


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


def grown(path: Path, *runs: RunTime) -> History:
    """After these runs and as many of the launcher's as are kept, each of 20 s."""
    history.add(path, EMPTY, *runs)
    for _ in range(MOST_RUNS + 20):
        last = history.add(path, EMPTY, run(20))
    assert len(last.runs) < MOST_RUNS + 20
    return last


def test_what_proved_slower_stays_so_however_many_runs_follow(tmp_path: Path) -> None:
    slower = [run(seconds, PLACED) for seconds in (1.45, 1.47, 1.46, 1.52)]
    last = grown(tmp_path / "h.json", run(1.2), *slower)
    assert last.has_proved_slower(PLACEMENT)
    assert last.best_s(None) == 1.2


def test_tuning_that_proved_slower_stays_so_however_many_runs_follow(tmp_path: Path) -> None:
    last = grown(tmp_path / "h.json", run(10), run(11, is_tuned=True), run(12, is_tuned=True))
    assert last.has_tuning_proved_slower(None)


def test_the_launchers_time_is_not_lost_among_runs_of_a_placement(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    history.add(path, EMPTY, *(run(seconds) for seconds in (12, 10, 11)))
    last = history.add(path, EMPTY, *[run(9, PLACED)] * MOST_RUNS)
    assert last.launcher_s() == 11
    assert not last.has_proved_slower(PLACEMENT)
    assert history.add(path, EMPTY, *[run(14, ("b", "a"))] * 3).dropped() == {("b", "a")}


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
