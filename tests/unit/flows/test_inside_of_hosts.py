# SPDX-License-Identifier: Apache-2.0
"""A run gives ranks other CPUs of the launcher's where that is expected to save time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator
from sessions import session_of
from synthetic_hosts import ONE_SOCKET, TWO_SMALL_SOCKETS, synthetic_inside

import fairlead as fl
from fairlead.act.launch import BindingLostError, LaunchSpec, RankCpus
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.errors import LaunchError
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import PlacingRequest, Request
from fairlead.flows.run.inside import RanksInside, decision_of_run, plan_inside
from fairlead.flows.run.inside_trial import InsideSteps
from fairlead.model.host_inside import HostInside
from fairlead.watch.concurrent_runs import announce_run
from fairlead.watch.forgetting import forget_program

HOSTS = ("a", "b")
BY_SOCKET = ("0", "4", "1", "5") * 2
"""As Open MPI maps by socket: neighbouring ranks are on different ones."""
TOGETHER = ("0", "1", "4", "5") * 2
UNMEASURED = dataclasses.replace(
    synthetic_inside(TWO_SMALL_SOCKETS, is_measured=False), problem="mpirun did not end within 60 s"
)
KEPT = Decision(None, Gain(0.0, 0.0, 0.0), network_s=0.01)


def pairs() -> fl.Traffic:
    """Ranks 0 and 1, 2 and 3, ... talk to each other."""
    sent = np.kron(np.eye(4), np.array([[0, 1e9], [1e9, 0]]))
    return fl.Traffic(sent, sent / 1e6)


class Steps:
    """Starts what it is asked for, as a launcher that gives each rank its CPUs by `takes`."""

    def __init__(
        self,
        *,
        takes: bool = True,
        still_starts: bool = True,
        ratio: float = 0.5,
        ratios: tuple[float, ...] = (),
    ):
        self.chosen: list[tuple[str, ...]] = []
        self.num_rehearsals = 0
        self.takes, self.still_starts = takes, still_starts
        self.ratios = ratios or (ratio,) * 4

    def steps(self) -> InsideSteps:
        return InsideSteps(self._with_chosen_cpus, self._observe, self._rehearse)

    def _with_chosen_cpus(
        self, _launcher: object, placed: LaunchSpec, lists: Any, _folder: Path, **_: object
    ) -> LaunchSpec:
        self.chosen.append(tuple(lists))
        if not self.takes:
            raise BindingLostError("rank 1 has CPUs 0, and not 1")
        return dataclasses.replace(placed, cpus=RankCpus(tuple(lists), by_program=False))

    def _observe(self, *_: object) -> list[object]:
        if not self.still_starts:
            raise LaunchError("no CPU 5")
        return []

    def _rehearse(self, *_: object, **__: object) -> np.ndarray:
        self.num_rehearsals += 1
        return np.array([[1.0, ratio] for ratio in self.ratios])


@pytest.fixture(autouse=True)
def own_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def narrator() -> RecordingNarrator:
    return RecordingNarrator()


@pytest.fixture
def session(tmp_path: Path, narrator: RecordingNarrator) -> Session:
    inside = synthetic_inside(TWO_SMALL_SOCKETS)
    network = fl.Network(
        HOSTS, np.zeros((2, 2)), np.full((2, 2), 1e9), insides=dict.fromkeys(HOSTS, inside)
    )
    cluster = fl.Cluster.uniform(HOSTS, 4)
    request = Request(("./solver",), 8, cluster, placing=PlacingRequest(inside=True))
    made = session_of(
        tmp_path / "run", TracedProgram(pairs()), network=network, request=request,
        narrator=narrator,
    )  # fmt: skip
    return dataclasses.replace(made, launchers_cpus=BY_SOCKET)


def started(plan: RanksInside, session: Session) -> LaunchSpec:
    with plan.apply(session.request.launch_spec(session.cluster)) as spec:
        return spec


def sockets_of(lists: tuple[str, ...]) -> list[int]:
    return [int(cpus) // 4 for cpus in lists]


def test_ranks_that_talk_get_cpus_of_one_socket(
    session: Session, narrator: RecordingNarrator
) -> None:
    plan = plan_inside(session, KEPT, Steps().steps())

    assert plan.cpus is not None
    sockets = sockets_of(plan.cpus.lists)
    assert sockets[0::2] == sockets[1::2]
    assert sorted(plan.cpus.lists) == sorted(BY_SOCKET)
    spec = started(plan, session)
    assert spec.placement is session.launchers
    assert spec.cpus == plan.cpus
    facts = plan.facts()
    assert facts["is_taken"]
    assert facts["is_considered"]
    assert facts["saved_share"] > 0.3
    assert facts["cpus_of_rank"] == list(plan.cpus.lists)
    assert [line for line in narrator.lines if line.startswith("inside of hosts: ranks have")]


def test_order_that_is_best_already_is_left(session: Session) -> None:
    steps = Steps()
    plan = plan_inside(dataclasses.replace(session, launchers_cpus=TOGETHER), KEPT, steps.steps())
    assert not plan.is_taken
    assert plan.is_considered
    assert steps.chosen == []
    assert started(plan, session).cpus is None


@pytest.mark.parametrize(("ratio", "is_taken"), [(0.5, True), (0.99, False), (1.2, False)])
def test_on_a_measured_network_the_rehearsal_decides(
    ratio: float, is_taken: bool, session: Session
) -> None:
    measured = dataclasses.replace(session, is_network_given=False)

    steps = Steps(ratio=ratio)
    for _ in range(2):  # The second time it is known.
        plan = plan_inside(measured, KEPT, steps.steps())

        assert plan.is_taken == is_taken
        assert plan.num_rounds == 4
        assert plan.saved_share == pytest.approx(1 - ratio)
    assert steps.num_rehearsals == 1
    assert len(steps.chosen) == 1 + is_taken


def test_what_a_rehearsal_decided_goes_with_what_was_learned_of_the_program(
    session: Session, tmp_path: Path
) -> None:
    measured = dataclasses.replace(session, is_network_given=False)
    plan_inside(measured, KEPT, Steps().steps())
    (kept,) = (tmp_path / "cache" / "fairlead" / "decisions").iterdir()

    forget_program(tmp_path / "run")

    assert not kept.exists()


def test_what_is_open_or_was_disturbed_is_rehearsed_again(session: Session, tmp_path: Path) -> None:
    measured = dataclasses.replace(session, is_network_given=False)
    decisions = tmp_path / "cache" / "fairlead" / "decisions"
    # A saving of a fifth in the mean, of half to a loss of a third.
    uncertain = Steps(ratios=(0.5, 1.3, 0.6, 1.0))
    for _ in range(2):
        assert not plan_inside(measured, KEPT, uncertain.steps()).is_taken
    assert uncertain.num_rehearsals == 2
    assert not decisions.exists()

    steps = Steps()
    with announce_run(HOSTS, "own") as own, announce_run(HOSTS, "other"):
        disturbed = dataclasses.replace(measured, alongside=own)
        assert plan_inside(disturbed, KEPT, steps.steps()).is_taken
    assert not decisions.exists()


def test_a_cache_that_cannot_be_written_costs_a_line(
    session: Session, narrator: RecordingNarrator, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("no folder")
    measured = dataclasses.replace(session, is_network_given=False)
    assert plan_inside(measured, KEPT, Steps().steps()).is_taken
    lost = [line for line in narrator.lines if "inside of hosts: not cached for later" in line]
    assert len(lost) == 1


def with_insides(session: Session, inside: HostInside | None) -> Session:
    insides = {} if inside is None else dict.fromkeys(HOSTS, inside)
    return dataclasses.replace(
        session, network=dataclasses.replace(session.network, insides=insides)
    )


@pytest.mark.parametrize(
    ("inside", "cpus", "why", "is_reported"),
    [
        (None, BY_SOCKET, "nothing of the inside", False),
        (synthetic_inside(ONE_SOCKET), BY_SOCKET, "equally near", False),
        (synthetic_inside(TWO_SMALL_SOCKETS), ("0-7",) * 8, "different CPUs", False),
        (synthetic_inside(TWO_SMALL_SOCKETS), (), "are not known", False),
        (HostInside(problem="libhwloc.so.15 is not installed"), BY_SOCKET, "not installed", True),
        (HostInside("<topology"), BY_SOCKET, "broken XML", True),
        (synthetic_inside("package:2 core:2 pu:1"), BY_SOCKET, "on another host", True),
        (synthetic_inside(TWO_SMALL_SOCKETS, is_measured=False), BY_SOCKET, "measured", True),
        (UNMEASURED, BY_SOCKET, "were not measured: mpirun did not end", True),
    ],
)
def test_where_the_inside_is_not_known_the_run_is_as_without_it(
    inside: HostInside | None,
    cpus: tuple[str, ...],
    why: str,
    is_reported: bool,
    session: Session,
    narrator: RecordingNarrator,
) -> None:
    steps = Steps()
    asked = dataclasses.replace(with_insides(session, inside), launchers_cpus=cpus)

    plan = plan_inside(asked, KEPT, steps.steps())

    assert not plan.is_taken
    assert not plan.is_considered
    assert why in plan.why
    assert steps.chosen == []
    spec = session.request.launch_spec(session.cluster)
    assert started(plan, session) == spec
    assert len(narrator.lines) == is_reported


def test_cpus_that_were_lost_since_are_named_and_the_launcher_starts_alone(
    session: Session, narrator: RecordingNarrator
) -> None:
    placement = fl.Placement(HOSTS, np.array([0, 0, 0, 0, 1, 1, 1, 1]), "optimize")
    decision = dataclasses.replace(
        KEPT, placement=placement, cpus=RankCpus(BY_SOCKET, by_program=False)
    )

    plan = plan_inside(session, decision, Steps(takes=False, still_starts=False).steps())

    assert narrator.lines == [
        "inside of hosts: ranks keep the launcher's CPUs: rank 1 has CPUs 0, and not 1"
    ]
    placed = dataclasses.replace(
        session.request.launch_spec(session.cluster, placement), cpus=decision.cpus
    )
    with plan.apply(placed) as spec:
        assert spec.placement is None
        assert spec.cpus is None
    assert decision_of_run(decision, [plan]).placement is None
    unchanged = plan_inside(session, decision, Steps(takes=False).steps())
    with unchanged.apply(placed) as spec:
        assert spec == placed


def test_launcher_with_one_list_gets_the_mapping_that_serves_all_hosts(session: Session) -> None:
    class OneList(Steps):
        def _with_chosen_cpus(self, *arguments: Any, **_: object) -> LaunchSpec:
            self.takes = arguments[2][:4] == arguments[2][4:]
            return super()._with_chosen_cpus(*arguments)

    # The ranks of the second host talk in other pairs, and less.
    sent = pairs().bytes.toarray()
    other = [4, 6, 5, 7]
    sent[4:, 4:] = 0.01 * sent[np.ix_(other, other)]
    program = TracedProgram(fl.Traffic(sent, sent / 1e6))
    steps = OneList()

    plan = plan_inside(dataclasses.replace(session, program=program), KEPT, steps.steps())

    free, alike = steps.chosen
    assert free[:4] != free[4:]
    assert alike[:4] == alike[4:]
    assert plan.cpus == RankCpus(alike, by_program=False)
    sockets = sockets_of(alike)
    assert sockets[0:4:2] == sockets[1:4:2]


def test_other_cpus_that_look_slower_take_turns_with_the_launchers(session: Session) -> None:
    for seconds, is_inside in ((10.0, False), (12.0, True)):
        session.log.add("optimize", KEPT, seconds, None, is_inside=is_inside)
    assert "take turns" in plan_inside(session, KEPT, Steps().steps()).why

    session.log.add("optimize", KEPT, 10.0, None)
    assert plan_inside(session, KEPT, Steps().steps()).is_taken


def test_other_cpus_that_have_proved_slower_are_not_used_again(session: Session) -> None:
    for seconds, is_inside in ((10.0, False), (12.0, True)) * 4:
        session.log.add("optimize", KEPT, seconds, None, is_inside=is_inside)

    plan = plan_inside(session, KEPT, Steps().steps())

    assert "proved slower" in plan.why
    assert not plan.is_taken
    assert session.log.kept.launcher_s() == 10.0
