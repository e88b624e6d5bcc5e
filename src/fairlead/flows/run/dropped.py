# SPDX-License-Identifier: Apache-2.0
"""What runs say against a placement: both run in turns until it is known; and it is tried again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import expected_gain
from fairlead.decide.placement import COST_OF_OBJECTIVE
from fairlead.errors import InputError
from fairlead.files.run_directory import NETWORK
from fairlead.flows.inputs.session import Session
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.watch.history import History

__all__ = ["reconsider_dropped", "take_turns"]

LEAST_CHANGE = 0.1
"""By this part of the time on the network a placement has to look better than at its last run."""


def take_turns(session: Session, decision: Decision) -> Decision:
    """The decision, or what a suspect is compared with where that has had no more runs.

    A slow run may be the machine's fault. So a placement, or relays, that look slower run in turns
    with what they are compared with, until the runs of both show which it is.
    """
    history, names = session.log.kept, decision.host_names()
    if decision.transfers.is_taken:
        found = history.compare_relays(names)
        if not found.is_reference_next:
            return decision
        why = f"they may be slower, and take turns with none ({found.line()})"
        transfers = dataclasses.replace(decision.transfers, is_taken=False, why=why)
        return dataclasses.replace(decision, transfers=transfers)
    if names is None:
        return decision
    found = history.compare_placement(names)
    if not found.is_reference_next:
        return decision
    return dataclasses.replace(decision, placement=None, taking_turns=found.line())


def reconsider_dropped(session: Session) -> None:
    """Let those placements be tried again that were dropped with another network or load."""
    for names, history in session.log.dropped.find_any().items():
        why = history.find_changed_load(names or ()) if names in history.find_dropped() else ""
        if why := why or _find_changed_network(session, history, names):
            session.log.try_again(names, why)
            what = "the launcher's placement" if names is None else "a placement"
            session.narrator.report(
                f"decision: {what} on which something proved slower is free again: {why}"
            )


def _find_changed_network(session: Session, history: History, names: Sequence[str] | None) -> str:
    """How the network differs from that of the last run on a placement, in what it means for it."""
    wanted = None if names is None else tuple(names)
    folders = [run.folder for run in history.runs if run.host_of_rank == wanted]
    hosts = session.cluster.hosts
    if names is None or not folders or not set(names) <= set(hosts):
        return ""
    try:
        before = Network.load(Path(folders[-1]) / NETWORK).select(hosts)
    except InputError:  # The folder was removed.
        return ""
    placing = session.request.placing
    placement = Placement(hosts, np.array([hosts.index(name) for name in names]))
    then, now = (
        expected_gain(
            placement, session.launchers, session.traffic, network, placing.seed,
            cost=COST_OF_OBJECTIVE[placing.objective],
        )
        for network in (before, session.network)
    )  # fmt: skip
    if now.ratio < then.ratio + LEAST_CHANGE or now.low_ratio <= then.high_ratio:
        return ""
    return (
        f"the network has changed: by its rates the placement saves {now.ratio:.0%} of the time on "
        f"it, at its last run {then.ratio:.0%}"
    )
