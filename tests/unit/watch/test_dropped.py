# SPDX-License-Identifier: Apache-2.0
"""What runs of an earlier build have shown holds until this build has run with it."""

from __future__ import annotations

import pytest

from fairlead.watch.dropped import Dropped
from fairlead.watch.history import History, Retry, RunTime, now

PLACED = ("b", "a")
EMPTY = History(program=("solver",), num_ranks=2, hosts=("a", "b"))
LEVERS = {
    "is_tuned": Dropped.has_tuning,
    "is_relayed": Dropped.has_relaying,
    "is_inside": Dropped.has_inside,
}


def kept(*times_s: float, names: tuple[str, ...] | None = PLACED, **levers: bool) -> History:
    """Three runs by the launcher in 10 s each, and these."""
    usual = [run(10.0, None)] * 3
    return EMPTY.model_copy(
        update={"runs": (*usual, *(run(seconds, names, **levers) for seconds in times_s))}
    )


def run(seconds: float, names: tuple[str, ...] | None, **levers: bool) -> RunTime:
    return RunTime(
        when=now(), folder="f", method="m", host_of_rank=names, seconds=seconds, **levers
    )


SLOW = (12.0, 12.0, 12.0)


def test_a_placement_that_an_earlier_build_has_dropped_is_dropped_until_it_has_run() -> None:
    earlier = kept(*SLOW)

    assert Dropped(kept(), earlier).find_placements() == {PLACED}
    assert Dropped(kept()).find_placements() == set()
    assert Dropped(kept(9.0), earlier).find_placements() == set()
    assert Dropped(kept(*SLOW), None).find_placements() == {PLACED}
    mark = Retry(host_of_rank=PLACED, when=now(), why="the network has changed")
    assert Dropped(kept().with_retry(mark), earlier).find_placements() == set()


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("names", [None, PLACED])
def test_so_it_is_with_each_lever(lever: str, names: tuple[str, ...] | None) -> None:
    has, other = LEVERS[lever], next(name for name in LEVERS if name != lever)
    without = kept(10.0, 10.0, 10.0, names=names)
    earlier = without.model_copy(
        update={"runs": (*without.runs, *(run(12.0, names, **{lever: True}) for _ in range(3)))}
    )

    assert has(Dropped(kept(), earlier), names)
    assert has(Dropped(kept(9.0, names=names), earlier), names)
    assert not LEVERS[other](Dropped(kept(), earlier), names)
    assert not has(Dropped(kept(9.0, names=names, **{lever: True}), earlier), names)
    mark = Retry(host_of_rank=names, when=now(), why="the load has changed")
    assert not has(Dropped(kept().with_retry(mark), earlier), names)


def test_all_that_has_proved_slower_is_found_with_the_runs_that_show_it() -> None:
    relayed = kept(*SLOW, names=None, is_relayed=True)
    earlier = kept(*SLOW)

    assert Dropped(relayed, earlier).find_any() == {None: relayed, PLACED: earlier}
    own = kept(*SLOW)
    assert Dropped(own, earlier).find_any() == {PLACED: own}
    assert Dropped(kept(9.0), earlier).find_any() == {}
