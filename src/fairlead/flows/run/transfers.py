# SPDX-License-Identifier: Apache-2.0
"""Whether a run with `--relay auto` relays messages: by a rehearsal, where that is worth a try."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairlead.act import mpi_builds
from fairlead.act.plan.relay import new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.decide.decision import Decision
from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.host_paths import MOST_RELAYS, probed_path_table
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.search import SearchResult
from fairlead.decide.transfers import (
    LEAST_REHEARSAL_S,
    MOST_REHEARSAL_S,
    TRANSFERS_S,
    Transfers,
    combinations_of,
    judge_combinations,
    reason_against_trying,
)
from fairlead.errors import Error
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import RelayRequest
from fairlead.flows.run.relays import find_routers
from fairlead.measure.transfer_rehearsal import Combination, rehearse_transfers
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator

__all__ = ["decide_transfers"]

SHARE_OF_BUDGET = 0.25
"""Where the user gives much time, a rehearsal may take this part of what is left of it."""

LAUNCH_RATIO = 1.5
"""What starting routers and a process for each rank takes, in times of one for each host."""


def decide_transfers(session: Session, decision: Decision, found: SearchResult) -> Decision:
    """The decision with relays, where these are worth it; it may be on another placement then.

    Args:
        session: The request, the hosts and the program's traffic.
        decision: What is taken without relays.
        found: The network, and the placements that were rehearsed.
    """
    relays = session.request.relays
    if relays is None or relays.mode != "auto":
        return decision
    began_s = time.monotonic()
    chosen, transfers, extra_s = _decide(session, relays, decision, found)
    placement, gain, num_rounds = chosen.placement, decision.gain, decision.num_rounds
    if transfers.whole_gain is not None and chosen.key != _base(session, decision).key:
        gain, num_rounds = transfers.whole_gain, transfers.num_rounds
    is_launchers = placement.host_names() == session.launchers.host_names()
    return dataclasses.replace(
        decision,
        placement=None if is_launchers else placement,
        gain=gain,
        num_rounds=num_rounds,
        transfers=transfers,
        seconds=decision.seconds + time.monotonic() - began_s,
        transfers_budget_s=extra_s,
    )


def _decide(
    session: Session, relays: RelayRequest, decision: Decision, found: SearchResult
) -> tuple[Combination, Transfers, float]:
    """The combination, what was decided on relays, and the time that was added to the budget."""
    base = _base(session, decision)
    given = "the network was given, and nothing is rehearsed" if session.is_network_given else ""
    if lack := given or session.library_lack:
        return base, Transfers(False, lack), 0.0
    placements = _placements(session, base.placement, found)
    table = _table(found.network, relays)
    why = reason_against_trying(
        placements, session.traffic, found.network, table,
        least_bytes=relays.least_bytes, sends_by_tcp=session.probe_program.sends_by_tcp,
    )  # fmt: skip
    if why is not None or table is None:
        return base, Transfers(False, why or ""), 0.0
    dropped = session.log.dropped

    def is_dropped(one: Combination) -> bool:
        names = one.placement.host_names()
        is_launchers = names == session.launchers.host_names()
        return dropped.has_relaying(None if is_launchers else names)

    combinations = combinations_of(placements, is_dropped)
    if not any(one.is_relayed for one in combinations):
        return base, Transfers(False, "relays have proved slower in earlier runs"), 0.0
    asked_s = session.request.network.budget_s
    extra_s = TRANSFERS_S if asked_s is None else 0.0
    left_s = _left_s(session, decision, extra_s)
    if left_s < LEAST_REHEARSAL_S:
        # The next run finds the network measured, and has this time.
        why = "no time is left of the budget"
        return base, Transfers(False, why, is_open=session.probe_s > 0), extra_s
    session.narrator.report("decision: rehearsing the program's messages directly and with relays")
    try:
        steps_s = _rehearse(
            *(session, relays, combinations),
            network=found.network, table=table,
            rehearsal_s=min(left_s, max(MOST_REHEARSAL_S, SHARE_OF_BUDGET * left_s)),
        )  # fmt: skip
    except (Error, OSError) as error:
        return base, Transfers(False, f"the rehearsal failed: {error}"), extra_s
    rule = session.request.placing.rule
    return *judge_combinations(combinations, base, steps_s, rule), extra_s


def _base(session: Session, decision: Decision) -> Combination:
    """What is taken where relays are not."""
    return Combination(
        _on_cluster(session, decision.placement or session.launchers), is_relayed=False
    )


def _placements(session: Session, taken: Placement, found: SearchResult) -> list[Placement]:
    """The launcher's, that which is taken without relays, and else the best that was found."""
    best = max(found.candidates, key=lambda one: one.gain.ratio, default=None)
    others = [taken] if taken.host_names() != session.launchers.host_names() else []
    if not others and best is not None:
        others = [best.placement]
    return [_on_cluster(session, one) for one in (session.launchers, *others)]


def _on_cluster(session: Session, placement: Placement) -> Placement:
    """The same placement, by the indices of the cluster's hosts."""
    hosts = session.cluster.hosts
    index = [hosts.index(name) for name in placement.host_names()]
    return Placement(hosts, np.array(index), placement.method)


def _table(network: Network, relays: RelayRequest) -> PathTable | None:
    try:
        return probed_path_table(network, MOST_RELAYS[relays.rule])
    except Error:
        return None


def _left_s(session: Session, decision: Decision, extra_s: float) -> float:
    """Time for the rounds of a rehearsal."""
    budget_s = decision.budget_s or 0.0
    launch_s = LAUNCH_RATIO * (session.network.launch_s or 1.0)
    return budget_s + extra_s - session.probe_s - decision.seconds - launch_s


def _rehearse(
    session: Session,
    relays: RelayRequest,
    combinations: Sequence[Combination],
    *,
    network: Network,
    table: PathTable,
    rehearsal_s: float,
) -> np.ndarray:
    """As `rehearse_transfers`, with routers that end with it."""
    launcher, arguments = session.launcher, session.request.launcher.arguments
    key = new_key()
    with contextlib.ExitStack() as stack:
        # The record's folder: other hosts see it where they see the plan of the run itself.
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(
                    prefix="rehearsal-", dir=session.directory.path, ignore_cleanup_errors=True
                )
            )
        )
        routers = stack.enter_context(find_routers(session, key, table.hosts, Narrator()))
        # The rehearsal itself says which messages the library sees.
        write_relay_plan(
            folder, network, table, routers, key,
            threshold_bytes=0, has_pauses=True, rule=relays.rule, zones=relays.zones,
        )  # fmt: skip
        library = mpi_builds.find(launcher).intercept
        return rehearse_transfers(
            combinations,
            session.traffic,
            remove_noise(with_pooled_noise(network)),
            launcher,
            session.cluster,
            env=preload_variables({}, library, FAIRLEAD_PLAN=str(folder.absolute())),
            least_bytes=relays.least_bytes,
            rehearsal_s=rehearsal_s,
            launcher_args=arguments,
        )
