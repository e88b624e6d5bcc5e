# SPDX-License-Identifier: Apache-2.0
"""Which placements are rehearsed with relays, and what the record says of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from instances import network
from sessions import session_of

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.decide.host_paths import network_with_relays, path_table
from fairlead.decide.relayed_placement import FOR_RELAYS
from fairlead.decide.search import Candidate, SearchResult
from fairlead.decide.transfers import TRANSFERS_S
from fairlead.errors import ProbeError
from fairlead.flows.inputs.binding import BINDING_S
from fairlead.flows.inputs.session import Session
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import RelayRequest, Request
from fairlead.flows.run import transfers
from fairlead.flows.run.announcement import announcement_of
from fairlead.flows.run.transfers import decide_transfers
from fairlead.measure.transfer_rehearsal import Combination
from fairlead.watch.past_runs import load_steps

LARGE = 1 << 20


def detours(slow_Bps: float) -> fl.Network:
    """Two groups of three hosts; in the first one pair is slow, with a way around it."""
    rates_Bps = np.full((6, 6), 5e6)
    rates_Bps[:3, :3], rates_Bps[3:, 3:] = 1e8, 6e7
    rates_Bps[0, 1] = rates_Bps[1, 0] = slow_Bps
    return network(rates_Bps)


class Rehearsing:
    """Steps as long as the rates with relays, and without, say; it remembers what was rehearsed."""

    def __init__(
        self, known: fl.Network, traffic: fl.Traffic, num_rounds: int = 6, fails: bool = False
    ) -> None:
        self.direct, self.traffic, self.num_rounds = known, traffic, num_rounds
        self.fails = fails
        self.relayed = network_with_relays(known, path_table(known))
        self.tried: list[Combination] = []
        self.left_s = 0.0

    def __call__(
        self,
        _session: Session,
        _relays: RelayRequest,
        tried: Sequence[Combination],
        *,
        left_s: float,
        **_: Any,
    ) -> np.ndarray:
        self.tried, self.left_s = list(tried), left_s
        if self.fails:
            raise ProbeError("no answer")
        networks = (self.relayed if one.is_relayed else self.direct for one in tried)
        steps_s = [
            fl.evaluate(one.placement, self.traffic, known).bottleneck_s
            for one, known in zip(tried, networks, strict=True)
        ]
        noise = np.exp(np.random.default_rng(2).normal(0, 0.01, (self.num_rounds, len(steps_s))))
        return np.array(steps_s) * noise


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def session_on(folder: Path, known: fl.Network, relays: RelayRequest) -> Session:
    """Three ranks that all send one another large messages, by the launcher on h0, h1 and h2."""
    sent = 30.0 * LARGE * (1 - np.eye(3))
    traffic = fl.Traffic(sent, sent / LARGE, np.where(sent > 0, LARGE, 0))
    request = Request(("./solver",), 3, fl.Cluster.uniform(known.hosts, 1), relays=relays)
    session = session_of(
        folder / "record",
        TracedProgram(traffic, seconds=9.0),
        network=known,
        request=request,
        launchers=fl.Placement(known.hosts, np.array([0, 3, 1]), "launcher"),
    )
    session.probe_program._sends_by_tcp = True
    return dataclasses.replace(session, is_network_given=False)


def decided(
    session: Session, rehearsing: Rehearsing, log_ratios: np.ndarray | None = None
) -> Decision:
    """The search has found the second group, which is the best one without relays."""
    known = session.network
    placement = fl.Placement(known.hosts, np.array([3, 4, 5]), "optimize")
    gain = Gain(0.5, 0.4, 0.6)
    decision = Decision(placement, gain, 1.0, 6, budget_s=4.0)
    rehearsed = [] if log_ratios is None else [Candidate(placement, gain, log_ratios)]
    found = SearchResult(rehearsed, 1.0, known, None, False, 0.0)
    return decide_transfers(session, decision, found, rehearsing)


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_the_placement_for_relays_is_taken_with_them_and_named(tmp_path: Path, mode: Any) -> None:
    session = session_on(tmp_path, detours(2e7), RelayRequest(mode))
    rehearsing = Rehearsing(session.network, session.traffic)

    decision = decided(session, rehearsing)

    assert decision.placement is not None
    assert sorted(decision.placement.host_names()) == ["h0", "h1", "h2"]
    assert decision.placement.method == f"optimize {FOR_RELAYS}"
    assert decision.num_rounds == 6
    *others, last = rehearsing.tried
    assert last.is_relayed and last.placement is decision.placement
    assert {one.is_relayed for one in others} == ({False, True} if mode == "auto" else {True})
    announcement_of(session, decision, [])
    (*_, noted) = load_steps(session.directory.path)["decision"]["combinations"]
    assert noted["placement"] == f"optimize {FOR_RELAYS}"
    assert noted["is_relayed"] and noted["gain"]["ratio"] > 0.3
    if mode == "auto":
        assert decision.transfers.why.endswith(f"on a placement {FOR_RELAYS}")


def test_without_a_better_one_nothing_is_rehearsed_in_addition(tmp_path: Path) -> None:
    """The first group is not better than the second, with relays or without."""
    known = detours(2e7)
    known.bandwidth_Bps[:3, :3] = np.where(known.bandwidth_Bps[:3, :3] == 1e8, 5e7, 1e7)
    np.fill_diagonal(known.bandwidth_Bps, np.inf)
    for mode in ("auto", "always"):
        session = session_on(tmp_path / mode, known, RelayRequest(mode))  # type: ignore[arg-type]
        rehearsing = Rehearsing(known, session.traffic)

        decision = decided(session, rehearsing)

        assert decision.placement is not None
        assert decision.placement.host_names() == ["h3", "h4", "h5"]
        assert len(rehearsing.tried) == (3 if mode == "auto" else 0)
        assert decision.transfers_budget_s == (3.5 if mode == "auto" else 0.0)


def test_what_the_search_has_rehearsed_is_not_rehearsed_again(tmp_path: Path) -> None:
    """The launcher's placement takes twice as long as that found, by six rounds of the search."""
    session = session_on(tmp_path, detours(2e7), RelayRequest("auto"))
    rehearsing = Rehearsing(session.network, session.traffic)
    earlier = np.log(0.5) + np.random.default_rng(3).normal(0, 0.01, 6)

    decision = decided(session, rehearsing, log_ratios=earlier)

    (base, base_relayed, further) = rehearsing.tried
    assert base.placement.host_names() == base_relayed.placement.host_names() == ["h3", "h4", "h5"]
    assert [one.is_relayed for one in rehearsing.tried] == [False, True, True]
    assert decision.transfers.gain is not None and decision.placement is further.placement
    left_ratio = 0.5 * (1 - decision.transfers.gain.ratio)
    assert decision.gain.ratio == pytest.approx(1 - left_ratio, abs=0.01)


@pytest.mark.parametrize("given_s", [None, 6.0])
@pytest.mark.parametrize("cpus", [(), ("0", "1", "2")])
def test_a_budget_also_ends_rounds_under_way(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given_s: float | None,
    cpus: tuple[str, ...],
) -> None:
    monkeypatch.setattr(transfers, "time", SimpleNamespace(monotonic=lambda: 7.0))
    session = session_on(tmp_path, detours(2e7), RelayRequest("auto"))
    asked = dataclasses.replace(session.request.network, budget_s=given_s)
    request = dataclasses.replace(session.request, network=asked)
    session = dataclasses.replace(session, request=request, launchers_cpus=cpus)
    rehearsing = Rehearsing(session.network, session.traffic)

    decided(session, rehearsing)

    # The decision has 4 s, and by default 3.5 s more; starting the program takes one and a half.
    # Where ranks are bound it keeps a part of that for looking at their CPUs.
    added_s = TRANSFERS_S if given_s is None else 0.0
    kept_s = BINDING_S if cpus else 0.0
    assert rehearsing.left_s == pytest.approx(2.5 + added_s - kept_s)


@pytest.mark.parametrize("fails", [False, True])
def test_without_a_result_the_next_run_which_need_not_probe_tries_once_more(
    tmp_path: Path, fails: bool
) -> None:
    session = session_on(tmp_path, detours(2e7), RelayRequest("auto"))
    late = Rehearsing(session.network, session.traffic, num_rounds=2, fails=fails)
    for has_probed in (True, False):
        # A kept network is checked, which takes time, too.
        known = dataclasses.replace(session, probe_s=0.4, has_probed=has_probed)
        decision = decided(known, late)
        assert not decision.transfers.is_taken
        assert decision.transfers.is_open == has_probed


def test_nothing_is_started_where_no_time_is_left(tmp_path: Path) -> None:
    session = session_on(tmp_path, detours(2e7), RelayRequest("auto"))
    session = dataclasses.replace(session, probe_s=7.0, has_probed=True)
    rehearsing = Rehearsing(session.network, session.traffic)

    decision = decided(session, rehearsing)

    assert rehearsing.tried == []
    assert decision.transfers.why == "no time is left of the budget"
    assert decision.transfers.is_open
