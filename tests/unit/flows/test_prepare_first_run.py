# SPDX-License-Identifier: Apache-2.0
"""What a first run has, and on what network that rests."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from prepare_world import World

import fairlead as fl
from fairlead.act.launch import Launcher, LaunchSpec
from fairlead.flows.inputs.found_network import FoundNetwork
from fairlead.flows.inputs.session import EarlyLook
from fairlead.measure.trace import TracedRun
from fairlead.watch.past_runs import load_steps


@dataclasses.dataclass
class Relays:
    """A lever that writes down what happens around the program."""

    events: list[str]
    routers_bytes: int = 1
    feature: str = "relays"
    is_taken: bool = True

    def facts(self) -> dict[str, Any]:
        return {"is_taken": self.is_taken, "why": "for a test"}

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        self.events.append("routers")
        env = {"FAIRLEAD_PLAN": "/plan", "LD_PRELOAD": "library"}
        yield dataclasses.replace(spec, env=env)
        self.events.append("no routers")

    def outcome(self) -> dict[str, Any]:
        return {"relays": {"routers_bytes": self.routers_bytes}}


def measure_quickly(found: FoundNetwork, *_arguments: Any, **_options: Any) -> np.ndarray:
    """No pair is sure."""
    return np.eye(found.measure().num_hosts, dtype=bool)


@pytest.mark.parametrize("routers_bytes", [0, 5])
def test_a_first_run_has_the_levers_that_the_network_shows_to_pay(
    world: World, monkeypatch: pytest.MonkeyPatch, routers_bytes: int
) -> None:
    events: list[str] = []
    relays = Relays(events, routers_bytes)
    traffic = fl.Traffic(bytes=np.eye(2), messages=np.eye(2))

    def trace(_launcher: Launcher, spec: LaunchSpec, **_options: Any) -> TracedRun:
        events.append(f"program with {sorted(spec.env)}, {world.probes} probes")
        return TracedRun(traffic, 3.0)

    def plan(look: Callable[[], EarlyLook]) -> list[Relays]:
        early, is_sure = look()
        assert not is_sure[0, 1]
        assert early.network.hosts == early.cluster.hosts == ("a", "b", "c")
        return [relays]

    monkeypatch.setattr("fairlead.flows.inputs.prepare.measure_early", measure_quickly)
    world.steps = dataclasses.replace(world.steps, trace=trace)

    session, _ = world.prepare(traffic=None, first="auto", plan_first=plan)

    # The trace loads the library itself; the network is measured once for both runs.
    program = "program with ['FAIRLEAD_PLAN'], 1 probes"
    assert events == ["routers", program, "no routers"]
    assert world.probes == 1
    assert session.first_run.done == {"relays": {"routers_bytes": routers_bytes}}
    (run,) = session.log.kept.runs
    assert (run.is_traced, run.is_relayed) == (True, routers_bytes > 0)
    expected = load_steps(session.directory.path)["expected"]
    assert expected["features"] == {"relays": {"is_taken": True, "why": "for a test"}}


def test_a_network_measured_before_a_long_run_is_measured_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = TracedRun(fl.Traffic(bytes=np.eye(2), messages=np.eye(2)), 3601.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced)
    monkeypatch.setattr("fairlead.flows.inputs.prepare.measure_early", measure_quickly)

    def plan(look: Callable[[], EarlyLook]) -> list[Relays]:
        look()
        return []

    world.prepare(traffic=None, first="auto", plan_first=plan)

    assert world.probes == 2


def test_only_the_run_that_was_asked_for_has_levers(world: World) -> None:
    def plan(_look: Callable[[], EarlyLook]) -> list[Relays]:
        raise AssertionError("it is started again with what was decided")

    traced = TracedRun(fl.Traffic(bytes=np.eye(2), messages=np.eye(2)), 3.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced)

    world.prepare(traffic=None, first="twice", plan_first=plan)
