# SPDX-License-Identifier: Apache-2.0
"""What a first run gains: relays and schedules of collectives, where rates alone promise enough.

Nothing is known of the program yet, so nothing is placed, timed or rehearsed. While it runs, paths
are compared on its own messages, and schedules with the MPI's own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from fairlead.act.containers import container_of
from fairlead.act.launch import Launcher
from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.first_run import LEAST_SAVING, FirstSaving, expect_first_saving
from fairlead.decide.host_paths import MOST_RELAYS, probed_path_table
from fairlead.decide.noise import with_pooled_noise
from fairlead.errors import Error
from fairlead.flows.inputs.session import EarlyLook, Session, library_lack
from fairlead.flows.request import Request
from fairlead.flows.run.features import FeaturePlan
from fairlead.flows.run.first_collectives import plan_first_collectives
from fairlead.flows.run.relays import RelayedMessages, useful_paths
from fairlead.narrator import Narrator

__all__ = ["plan_first_run"]


def plan_first_run(
    request: Request, launcher: Launcher, narrator: Narrator, look: Callable[[], EarlyLook]
) -> list[FeaturePlan]:
    """The levers of a run whose program was never traced.

    Args:
        request: What the user asked for.
        launcher: Starts the program.
        narrator: Prints what was found.
        look: Measures the network; called only where a lever may be had.
    """
    levers: dict[str, Callable[[EarlyLook], FeaturePlan]] = {}
    if request.relays is not None:
        levers["relays"] = lambda early: _plan_relays(*early)
    if request.collectives.tune == "auto" and request.collectives.plan is None:
        levers["collectives"] = lambda early: plan_first_collectives(early.session)
    plans = _plan_levers(levers, request, launcher, look)
    for plan in plans:
        taken = "taken" if plan.is_taken else "not taken"
        narrator.report(f"{plan.feature}: {taken} in this run: {plan.why}")
    return plans


def _plan_levers(
    levers: Mapping[str, Callable[[EarlyLook], FeaturePlan]],
    request: Request,
    launcher: Launcher,
    look: Callable[[], EarlyLook],
) -> list[FeaturePlan]:
    """The plan of each; where there is any, the network is looked at once."""
    if not levers:
        return []
    lack = library_lack(launcher)
    if not lack and container_of(request.program) is not None:
        lack = "the program is in a container, into which a way is found for the next run"
    if lack:
        return [FeaturePlan(feature=name, why=lack) for name in levers]
    plans = []
    try:
        early = look()
    except Error as error:
        return [FeaturePlan(feature=name, why=str(error)) for name in levers]
    for name, plan in levers.items():
        try:
            plans.append(plan(early))
        except Error as error:
            plans.append(FeaturePlan(feature=name, why=str(error)))
    return plans


def _plan_relays(session: Session, is_sure: npt.NDArray[np.bool_]) -> FeaturePlan:
    relays, network = session.request.relays, session.network
    assert relays is not None
    if relays.mode == "always":
        why, table = "asked for", useful_paths(network, relays.rule, session.narrator)
        if table is None:
            return _without("no path of use")
    else:
        table = probed_path_table(network, MOST_RELAYS[relays.rule])
        saving = expect_first_saving(remove_noise(with_pooled_noise(network)), table, is_sure)
        if lack := _reason_against(session, saving):
            return _without(lack)
        num_pairs = network.num_hosts * (network.num_hosts - 1)
        why = (
            f"by the measured rates messages of 1 MiB take {saving.ratio:.0%} less time between "
            f"any two hosts, on {saving.num_pairs} of {num_pairs} pairs; paths are compared "
            "while the program runs"
        )
    return RelayedMessages(
        feature="relays", why=why, session=session, relays=relays, network=network, table=table
    )


def _reason_against(session: Session, saving: FirstSaving) -> str:
    """Why messages of the first run are not relayed; empty where they are."""
    if session.is_network_given:
        return "the network was given, and nothing is measured"
    if session.log.dropped.has_relaying(None):
        return "they have proved slower in earlier runs"
    if saving.ratio < LEAST_SAVING:
        return (
            f"by the measured rates they save {saving.ratio:.0%} between any two hosts, less than "
            f"{LEAST_SAVING:.0%}"
        )
    if session.probe_program.sends_by_tcp is None:
        return "it is not known whether the MPI sends by TCP"
    return "" if session.probe_program.sends_by_tcp else "the MPI does not send by TCP"


def _without(why: str) -> FeaturePlan:
    return FeaturePlan(feature="relays", why=why)
