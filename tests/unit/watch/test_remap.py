# SPDX-License-Identifier: Apache-2.0
"""Ranks learn their next task by an oracle, and keep the one they have without."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from fairlead.errors import InputError, ProbeError
from fairlead.measure import oracle
from fairlead.watch.remap import Remapper


class Ranks:
    """Threads as ranks; each gets a communicator."""

    def __init__(self, num_ranks: int):
        self.barrier = threading.Barrier(num_ranks, timeout=60)
        self.slots: list[Any] = [None] * num_ranks

    def run(self, body: Callable[[Any], Any]) -> list[Any]:
        results: list[Any] = [None] * len(self.slots)

        def start(rank: int) -> None:
            try:
                results[rank] = body(Comm(self, rank))
            except InputError as error:
                results[rank] = error

        threads = [threading.Thread(target=start, args=(r,)) for r in range(len(self.slots))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


class Comm:
    """The part of mpi4py that is used."""

    def __init__(self, ranks: Ranks, rank: int):
        self.ranks, self.rank = ranks, rank

    def Get_rank(self) -> int:
        return self.rank

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        self.ranks.slots[self.rank] = sendobj
        self.ranks.barrier.wait()
        found = list(self.ranks.slots) if self.rank == root else None
        self.ranks.barrier.wait()
        return found

    def bcast(self, obj: Any, root: int = 0) -> Any:
        if self.rank == root:
            self.ranks.slots[0] = obj
        self.ranks.barrier.wait()
        found = self.ranks.slots[0]
        self.ranks.barrier.wait()
        return found


class Oracle:
    """Lets neighbours swap their tasks; its questions are kept."""

    def __init__(self) -> None:
        self.questions: list[dict[str, Any]] = []

    def __call__(
        self, url: str, options: Mapping[str, str], question: Mapping[str, Any]
    ) -> list[int]:
        sent: dict[str, Any] = json.loads(json.dumps(question))
        self.questions.append({"url": url, **options, **sent})
        return [task ^ 1 for task in sent["task_of_process"]]


SOURCE = "http://127.0.0.1:9?metric=bw&method=scotch"


def test_all_ranks_learn_their_next_task() -> None:
    oracle = Oracle()

    def body(comm: Any) -> int:
        remapper = Remapper(comm, SOURCE, ask=oracle)
        return remapper(comm.rank, {(comm.rank + 1) % 4: 10.0}, move_bytes=5.0, repeats_left=7)

    assert Ranks(4).run(body) == [1, 0, 3, 2]
    asked = oracle.questions[0]
    assert asked["url"] == "http://127.0.0.1:9"
    assert (asked["metric"], asked["method"]) == ("bw", "scotch")
    assert asked["sent"] == [[0, 1, 10.0], [1, 2, 10.0], [2, 3, 10.0], [3, 0, 10.0]]
    assert (asked["move_bytes_of_process"], asked["repeats_left"]) == ([5.0] * 4, 7)


def test_coordinates_of_tasks_are_handed_on_in_the_order_of_the_tasks() -> None:
    oracle = Oracle()

    def body(comm: Any) -> int:
        task = (comm.rank + 1) % 4
        return Remapper(comm, SOURCE, ask=oracle)(task, {}, coordinates=np.array([task, 10.5]))

    Ranks(4).run(body)

    assert oracle.questions[0]["task_of_process"] == [1, 2, 3, 0]
    assert oracle.questions[0]["coordinates_of_task"] == [[t, 10.5] for t in range(4)]


def test_without_coordinates_the_question_has_none() -> None:
    oracle = Oracle()

    Ranks(2).run(lambda comm: Remapper(comm, SOURCE, ask=oracle)(comm.rank, {}))

    assert "coordinates_of_task" not in oracle.questions[0]


@pytest.mark.parametrize(
    ("coordinates", "problem"),
    [
        ([1.0], "coordinates: expected as many on all ranks, got 1 and 2"),
        ([1.0, float("nan")], "coordinates: each must be finite, got nan"),
    ],
)
def test_coordinates_of_one_rank_that_cannot_be_are_refused_on_all(
    coordinates: list[float], problem: str
) -> None:
    oracle = Oracle()

    def body(comm: Any) -> int:
        own = coordinates if comm.rank == 1 else [0.0, 0.0]
        return Remapper(comm, SOURCE, ask=oracle)(comm.rank, {}, coordinates=own)

    errors = Ranks(2).run(body)

    assert not oracle.questions
    for error in errors:
        with pytest.raises(InputError, match=problem):
            raise error


def test_numbers_of_numpy_are_numbers() -> None:
    oracle = Oracle()

    def body(comm: Any) -> int:
        task, size = np.int64(comm.rank), np.int32(10)
        remapper = Remapper(comm, SOURCE, ask=oracle)
        return remapper(task, {np.int64(0): size}, move_bytes=size, repeats_left=size)

    assert Ranks(2).run(body) == [1, 0]
    assert oracle.questions[0]["sent"] == [[0, 0, 10.0], [1, 0, 10.0]]


def test_each_move_asks_for_more_gain_so_that_none_flaps() -> None:
    oracle = Oracle()

    def body(comm: Any) -> None:
        remapper, task = Remapper(comm, SOURCE, ask=oracle), comm.rank
        for _ in range(4):
            task = remapper(task, {})

    Ranks(2).run(body)

    assert [question["least_gain_ratio"] for question in oracle.questions] == [0.1, 0.2, 0.4, 0.5]


def test_oracle_that_dies_leaves_all_tasks_where_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def gone(*_: Any) -> list[int]:
        raise ProbeError("the oracle cannot be reached")

    tasks = Ranks(3).run(lambda comm: Remapper(comm, SOURCE, ask=gone)((comm.rank + 1) % 3, {}))

    assert tasks == [1, 2, 0]
    assert capsys.readouterr().err == "fairlead: the oracle cannot be reached; all tasks stay\n"


def test_without_an_oracle_all_tasks_stay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FAIRLEAD_ORACLE", raising=False)

    assert Ranks(2).run(lambda comm: Remapper(comm)(comm.rank, {})) == [0, 1]
    assert "FAIRLEAD_ORACLE names no oracle; all tasks stay" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "bytes_to", "problem"),
    [
        (0, {}, r"expected each task of 0 to 1 on one rank, got \[0, 0\]"),
        (None, {2: 1.0}, "task 1 cannot send 1.0 bytes to task 2"),
        (None, {0: -1.0}, "task 1 cannot send -1.0 bytes to task 0"),
    ],
)
def test_wrong_argument_of_one_rank_is_refused_on_all(
    task: int | None, bytes_to: dict[int, float], problem: str
) -> None:
    oracle = Oracle()

    def body(comm: Any) -> int:
        own = comm.rank if task is None else task
        return Remapper(comm, SOURCE, ask=oracle)(own, bytes_to if comm.rank == 1 else {})

    errors = Ranks(2).run(body)

    assert not oracle.questions
    for error in errors:
        with pytest.raises(InputError, match=problem):
            raise error


def test_argument_of_a_wrong_type_on_one_rank_is_refused_on_all() -> None:
    oracle = Oracle()
    arguments: list[Any] = [{}, {"two": 1.0}, {}]

    errors = Ranks(3).run(lambda c: Remapper(c, SOURCE, ask=oracle)(c.rank, arguments[c.rank]))

    assert not oracle.questions
    for error in errors:
        with pytest.raises(InputError, match=r"remap: an argument is of a wrong type: .*'two'"):
            raise error


def test_answer_that_nobody_expects_leaves_all_tasks_where_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: Any) -> list[int]:
        raise TypeError("'<' not supported between instances of 'str' and 'int'")

    tasks = Ranks(2).run(lambda comm: Remapper(comm, SOURCE, ask=fail)(comm.rank, {}))

    assert tasks == [0, 1]
    assert "'<' not supported" in capsys.readouterr().err


@pytest.mark.parametrize("tasks", [["a", 0], [None, 0], [0, 0], [0], "01", None])
def test_answer_without_each_task_is_refused(
    tasks: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "fetch_json", lambda *_, **__: {"task_of_process": tasks})
    with pytest.raises(InputError, match="gives not each task to one process"):
        oracle.ask_for_tasks("http://127.0.0.1:9", {}, {"task_of_process": [0, 1]})
