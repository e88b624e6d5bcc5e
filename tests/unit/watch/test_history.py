# SPDX-License-Identifier: Apache-2.0
"""The times of a program's runs, and what they say against a placement or another lever."""

from __future__ import annotations

import multiprocessing
import random
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.watch import history_store
from fairlead.watch.history import MOST_RUNS, History, Retry, RunTime, now

PLACED = ("a", "b")
PLACEMENT = fl.Placement(["a", "b"], np.array([0, 1]))
EMPTY = History(program=("solver",), num_ranks=2, hosts=("a", "b"))
LAUNCHERS = (9.8, 10.0, 10.3)
SLOWER = (11.0, 12.0, 11.5)


def run(
    seconds: float,
    host_of_rank: tuple[str, ...] | None = None,
    *,
    is_tuned: bool = False,
    is_relayed: bool = False,
    is_shared: bool = False,
    is_inside: bool = False,
) -> RunTime:
    return RunTime(
        when=now(), folder="f", method="m", host_of_rank=host_of_rank, seconds=seconds,
        is_tuned=is_tuned, is_relayed=is_relayed, is_shared=is_shared, is_inside=is_inside,
    )  # fmt: skip


def runs_of(
    times_s: tuple[float, ...], host_of_rank: tuple[str, ...] | None = None, **levers: bool
) -> list[RunTime]:
    return [run(seconds, host_of_rank, **levers) for seconds in times_s]


def kept(*runs: RunTime) -> History:
    return EMPTY.model_copy(update={"runs": runs})


def test_three_runs_of_each_show_a_placement_that_is_slower_in_all() -> None:
    launchers = runs_of(LAUNCHERS)
    assert kept(*launchers, *runs_of(SLOWER, PLACED)).compare_placement(PLACED).is_slower
    # One of 20 orders of six runs is as clear; what is within 3 % is no loss.
    assert kept(*launchers, *runs_of(SLOWER, PLACED)).compare_placement(PLACED).risk == 1 / 20
    for not_slower in ((9.0, 12.0, 11.5), (10.2, 10.4, 10.5), SLOWER[:2]):
        assert (
            not kept(*launchers, *runs_of(not_slower, PLACED)).compare_placement(PLACED).is_slower
        )


def test_runs_with_other_cpus_are_compared_with_those_of_the_same_placement() -> None:
    usual = [run(10 + 0.01 * at) for at in range(6)]
    placed = [run(8 + 0.01 * at, PLACED) for at in range(6)]
    slower = kept(*usual, *placed, *(run(9 + 0.01 * at, PLACED, is_inside=True) for at in range(6)))
    assert slower.is_inside_dropped(PLACED)
    assert not slower.is_inside_dropped(None)
    assert not slower.compare_placement(PLACED).is_slower
    faster = kept(*usual, *(run(5 + 0.01 * at, is_inside=True) for at in range(6)))
    assert not faster.is_inside_dropped(None)
    assert faster.launcher_s() == pytest.approx(10.025)


def test_levers_that_are_always_taken_are_compared_with_the_launchers_runs() -> None:
    """As a user has it: other CPUs by default, so that no run on the placement is without them."""
    usual = [run(10 + 0.01 * at) for at in range(6)]
    slower = kept(*usual, *(run(20 + 0.01 * at, PLACED, is_inside=True) for at in range(6)))
    assert slower.is_inside_dropped(PLACED)

    tuned = [run(20 + 0.01 * at, PLACED, is_inside=True, is_tuned=True) for at in range(6)]
    untuned = [run(10 + 0.01 * at, PLACED, is_inside=True) for at in range(6)]
    assert kept(*usual, *untuned, *tuned).is_tuning_dropped(PLACED)

    relayed = [run(40 + 0.01 * at, PLACED, is_inside=True, is_relayed=True) for at in range(6)]
    assert kept(*usual, *untuned, *relayed).is_relaying_dropped(PLACED)


def test_only_runs_that_differ_in_one_lever_are_compared_where_there_are_any() -> None:
    """Collectives that are slower on a placement are not taken for a slow placement."""
    usual, placed = runs_of(LAUNCHERS), runs_of((8.0, 8.1, 8.2), PLACED)
    tuned = runs_of((20.0, 20.1, 20.2, 20.3), PLACED, is_tuned=True)
    assert not kept(*usual, *placed, *tuned).compare_placement(PLACED).is_slower
    assert kept(*usual, *placed, *tuned).is_tuning_dropped(PLACED)
    # Without runs that differ in the placement alone both together are judged.
    assert kept(*usual, *tuned).compare_placement(PLACED).is_slower

    relayed = runs_of((9.0, 9.1, 9.2), PLACED, is_relayed=True)
    slow = runs_of((20.0, 20.1, 20.2), PLACED, is_relayed=True, is_tuned=True)
    both = kept(*usual, *placed, *slow, *relayed)
    assert both.compare_relays(PLACED).own_s == (9.0, 9.1, 9.2)
    assert not kept(*usual, *runs_of((10.0,), PLACED), *slow, *relayed).is_relaying_dropped(PLACED)

    inside = runs_of((8.5, 8.6, 8.4), PLACED, is_inside=True, is_tuned=True)
    found = kept(*usual, *tuned, *inside).compare_inside(PLACED)
    assert set(found.others_s) == {20.0, 20.1, 20.2, 20.3}


def test_after_a_first_run_with_relays_others_are_compared_with_that() -> None:
    first = run(10.0, is_relayed=True)
    for suspect in (run(12.0, PLACED), run(12.0, PLACED, is_relayed=True)):
        history = kept(first, suspect)
        compare = history.compare_relays if suspect.is_relayed else history.compare_placement
        assert compare(PLACED).others_s == (10.0,)
        assert compare(PLACED).is_reference_next

    # From the first run without them on, that is what everything is compared with.
    later = kept(first, run(12.0, PLACED), run(11.0))
    assert later.compare_placement(PLACED).others_s == (11.0,)
    direct = kept(first, run(12.0, PLACED, is_relayed=True), run(13.0, PLACED))
    assert direct.compare_relays(PLACED).others_s == (13.0,)
    assert kept(first).compare_relays(None).others_s == ()


def test_tuned_collectives_are_no_change_of_the_load() -> None:
    before = [*runs_of(LAUNCHERS), *runs_of(SLOWER, PLACED)]
    tuned = runs_of((5.0, 5.1, 5.2, 4.9, 5.3), is_tuned=True)
    assert kept(*before, *tuned).find_changed_load(PLACED) == ""
    assert kept(*before, *tuned, *runs_of((5.0, 5.1, 5.2, 4.9, 5.3))).find_changed_load(PLACED)


def test_a_slow_run_on_a_busy_machine_does_not_drop_a_placement() -> None:
    """Measured: 11.1 s on the placement, where the launcher took 7.5, 18.8, 8.3 and 4.9 s."""
    one_each = kept(run(7.5), run(11.1, PLACED))
    assert not one_each.compare_placement(PLACED).is_slower
    assert one_each.compare_placement(PLACED).is_reference_next

    later = kept(run(7.5), run(11.1, PLACED), *runs_of((18.8, 8.3, 4.9)))
    assert not later.compare_placement(PLACED).is_slower
    assert not later.compare_placement(PLACED).is_reference_next


def test_a_suspect_and_the_launchers_placement_run_in_turns_until_it_is_known() -> None:
    grown = kept(run(10.0), run(12.0, PLACED))
    order = []
    while not grown.compare_placement(PLACED).is_slower and len(order) < 20:
        is_reference = grown.compare_placement(PLACED).is_reference_next
        order.append("launcher" if is_reference else "placed")
        grown = kept(*grown.runs, run(10.0) if is_reference else run(12.0, PLACED))

    assert order == ["launcher", "placed", "launcher", "placed"]


def test_a_suspect_has_its_turns_where_the_launchers_runs_are_in_another_state() -> None:
    """Runs that never become comparable are no reason to run the launcher's placement for ever."""
    history = kept(run(10.0, is_tuned=True), *runs_of((10.5, 10.6, 10.5), PLACED, is_tuned=True))
    turns = []
    for _ in range(6):
        turns.append(history.compare_placement(PLACED).is_reference_next)
        following = run(9.9) if turns[-1] else run(10.5, PLACED, is_tuned=True)
        history = kept(*history.runs, following)

    assert turns == [True, False, True, False, True, False]


def test_a_placement_that_is_as_good_is_rarely_dropped_and_a_slow_one_soon() -> None:
    """In 20 runs whose times spread by 20 %, with a look after each; figures of the page."""

    def dropped_ratio(ratio: float) -> float:
        source, count = random.Random(1), 0
        for _ in range(200):
            grown = kept(run(source.lognormvariate(0, 0.2)))
            for _ in range(20):
                found = grown.compare_placement(PLACED)
                if found.is_reference_next:
                    grown = kept(*grown.runs, run(source.lognormvariate(0, 0.2)))
                    continue
                grown = kept(*grown.runs, run(ratio * source.lognormvariate(0, 0.2), PLACED))
                if grown.compare_placement(PLACED).is_slower:
                    count += 1
                    break
        return count / 200

    assert dropped_ratio(0.7) == 0
    assert dropped_ratio(1.0) < 0.15
    assert dropped_ratio(1.5) > 0.9


def test_runs_that_shared_their_hosts_with_another_run_say_nothing() -> None:
    disturbed = runs_of(SLOWER, PLACED, is_shared=True)
    found = kept(*runs_of(LAUNCHERS), *disturbed)
    assert not found.compare_placement(PLACED).is_slower
    assert kept(run(10), run(30, is_shared=True)).launcher_s() == 10


def test_a_placement_is_free_again_where_the_load_has_changed() -> None:
    before = [*runs_of(LAUNCHERS), *runs_of(SLOWER, PLACED)]
    assert kept(*before, *runs_of((10.1, 9.9, 10.2))).find_changed_load(PLACED) == ""
    busier = kept(*before, *runs_of((17.0, 15.0, 16.0, 18.0, 16.5)))
    assert "launcher's runs take 16.5 s, before 10 s" in busier.find_changed_load(PLACED)


def test_what_is_tried_again_counts_only_its_later_runs() -> None:
    dropped = kept(*runs_of(LAUNCHERS), *runs_of(SLOWER, PLACED))
    again = dropped.with_retry(Retry(host_of_rank=PLACED, when=now(), why="w"))
    assert dropped.compare_placement(PLACED).is_slower
    assert not again.compare_placement(PLACED).is_slower

    later = (*again.runs, *runs_of(LAUNCHERS), *runs_of(SLOWER, PLACED))
    assert again.model_copy(update={"runs": later}).compare_placement(PLACED).is_slower


def test_tuned_collectives_are_compared_on_the_same_placement() -> None:
    tuned, placed = runs_of(SLOWER, is_tuned=True), runs_of(SLOWER, PLACED, is_tuned=True)
    assert kept(*runs_of(LAUNCHERS), *tuned).is_tuning_dropped(None)
    assert not kept(*runs_of(SLOWER), *runs_of(LAUNCHERS, is_tuned=True)).is_tuning_dropped(None)
    assert not kept(*runs_of(LAUNCHERS), *placed).is_tuning_dropped(PLACED)


def test_relays_are_compared_with_the_placement_without_and_with_the_launchers() -> None:
    relayed = runs_of(SLOWER, PLACED, is_relayed=True)
    assert kept(*runs_of(LAUNCHERS, PLACED), *relayed).is_relaying_dropped(PLACED)
    assert kept(*runs_of(LAUNCHERS), *relayed).is_relaying_dropped(PLACED)
    assert not kept(*runs_of(LAUNCHERS), *relayed).is_relaying_dropped(None)
    assert not kept(*relayed).is_relaying_dropped(PLACED)


def test_a_placement_is_judged_by_its_runs_without_relays() -> None:
    relayed = runs_of(SLOWER, PLACED, is_relayed=True)
    assert not kept(*runs_of(LAUNCHERS), *relayed).compare_placement(PLACED).is_slower


def test_usual_time_without_fairlead_leaves_tuned_runs_out() -> None:
    several = kept(run(10), run(12), run(11), run(3, is_tuned=True), run(5, PLACED))

    assert several.launcher_s() == 11
    assert several.usual_s(None, is_tuned=True) == 3
    assert EMPTY.launcher_s() is None


def test_runs_come_back_in_order_and_the_oldest_go_first(tmp_path: Path) -> None:
    path = tmp_path / "history" / "h.json"
    for number in range(3):
        history_store.add(path, EMPTY, run(number))
    assert [one.seconds for one in history_store.recall(path, EMPTY).runs] == [0, 1, 2]
    grown = history_store.add(path, EMPTY, *(run(20) for _ in range(MOST_RUNS)))
    assert len(grown.runs) == MOST_RUNS


@pytest.mark.parametrize("lever", ["placement", "is_tuned", "is_relayed"])
def test_what_proved_slower_stays_so_however_many_runs_follow(tmp_path: Path, lever: str) -> None:
    is_placement = lever == "placement"
    names, levers = (PLACED, {}) if is_placement else (None, {lever: True})
    history_store.add(tmp_path / "h", EMPTY, *runs_of(LAUNCHERS), *runs_of(SLOWER, names, **levers))

    last = history_store.add(tmp_path / "h", EMPTY, *[run(20)] * (MOST_RUNS + 20))

    assert len(last.runs) < MOST_RUNS + 20
    assert last.compare_placement(PLACED).is_slower == is_placement
    assert last.is_tuning_dropped(None) == (lever == "is_tuned")
    assert last.is_relaying_dropped(None) == (lever == "is_relayed")


def test_the_launchers_time_is_not_lost_among_runs_of_a_placement(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    history_store.add(path, EMPTY, *runs_of((12, 10, 11)))
    last = history_store.add(path, EMPTY, *[run(9, PLACED)] * MOST_RUNS)
    assert last.launcher_s() == 11
    assert not last.compare_placement(PLACED).is_slower


def test_files_of_additions_are_moved_into_one_and_count_once(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    for number in range(history_store.MOST_ADDITIONS + 2):
        history_store.add(path, EMPTY, run(number))

    assert len(list((tmp_path / "h.d").iterdir())) == 1
    assert not (tmp_path / "h.merging").exists()
    expected = list(range(history_store.MOST_ADDITIONS + 2))
    assert [one.seconds for one in history_store.recall(path, EMPTY).runs] == expected


def _add_ten(path: Path) -> None:
    for _ in range(10):
        history_store.add(path, EMPTY, run(1.0))


def test_runs_of_processes_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(_add_ten, [path] * 3)
    assert len(history_store.recall(path, EMPTY).runs) == 30


@pytest.mark.parametrize("is_moved_before", [False, True])
@pytest.mark.parametrize("num_merges", [1, 2])
def test_runs_that_are_moved_while_another_process_reads_them_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_merges: int, is_moved_before: bool
) -> None:
    path = tmp_path / "h.json"
    for number in range(3):
        history_store.add(path, EMPTY, run(number))
    load = History.load

    def move() -> None:
        monkeypatch.setattr(History, "load", load)
        for later in range(num_merges):
            history_store._merge(path)
            history_store.add(path, EMPTY, run(10 + later))

    def load_while_another_moves(file: Path) -> History:
        if is_moved_before:
            move()
            return load(file)
        found = load(file)
        move()
        return found

    monkeypatch.setattr(History, "load", load_while_another_moves)
    found = [one.seconds for one in history_store.recall(path, EMPTY).runs]

    assert [seconds for seconds in found if seconds < 10] == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{", "damaged"),
        ('{"kind": "history", "runs": 3}', "program"),
        ("[]", "Input should be"),
        ('{"kind": "history", "version": 9}', "version"),
    ],
)
def test_a_history_that_is_damaged_or_of_another_version_is_named_and_left(
    tmp_path: Path, text: str, field: str
) -> None:
    path, lines = tmp_path / "h.json", list[str]()
    path.write_text(text)

    assert history_store.recall(path, EMPTY, lines.append) == EMPTY
    for _ in range(history_store.MOST_ADDITIONS + 2):
        last = history_store.add(path, EMPTY, run(1.0))

    assert len(lines) == 1 and f"earlier runs are not used: {path}: {field}" in lines[0]
    assert len(last.runs) == history_store.MOST_ADDITIONS + 2
    assert path.read_text() == text


def test_a_history_of_the_version_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    path.write_text(EMPTY.model_dump_json().replace('"version":2', '"version":1'))
    assert history_store.add(path, EMPTY, run(1.0)).runs[0].seconds == 1.0


def test_nothing_is_kept_in_a_store_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "fairlead").mkdir()
    monkeypatch.setattr("os.getuid", lambda: (tmp_path / "fairlead").stat().st_uid + 1)
    with pytest.raises(fl.InputError, match="fairlead: belongs to another user"):
        history_store.add(tmp_path / "fairlead" / "h.json", EMPTY, run(1.0))
