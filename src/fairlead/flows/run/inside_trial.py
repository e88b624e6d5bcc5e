# SPDX-License-Identifier: Apache-2.0
"""Tries CPUs that were chosen for ranks: in a start of the launcher, and in a rehearsal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.act.launch import LaunchSpec, RankCpus, observe_ranks, with_chosen_cpus
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.decide.inside import (
    HostPlaces,
    InsideMapping,
    KeptMapping,
    keep_mapping,
    load_mapping,
    map_inside_alike,
)
from fairlead.decide.rule import rehearsed_gain
from fairlead.errors import Error, InputError, LaunchError
from fairlead.files.run_directory import KEPT_INSIDE
from fairlead.files.scratch import scratch_folder
from fairlead.flows.inputs.session import Session
from fairlead.measure.inside_rehearsal import rehearse_places
from fairlead.model.placement import Placement

__all__ = ["STEPS", "FoundMapping", "InsideSteps", "Trial", "try_mapping"]

REHEARSAL_S = 0.6
"""Time for the rounds of a rehearsal."""

LEAST_ROUNDS = 2
"""Fewer rounds have no spread."""


@dataclasses.dataclass(frozen=True)
class InsideSteps:
    """The functions that a trial uses; tests replace them.

    Attributes:
        with_chosen_cpus: As `fairlead.act.launch.with_chosen_cpus`.
        observe_ranks: As `fairlead.act.launch.observe_ranks`.
        rehearse: As `fairlead.measure.inside_rehearsal.rehearse_places`.
    """

    with_chosen_cpus: Callable[..., LaunchSpec] = with_chosen_cpus
    observe_ranks: Callable[..., Sequence[Any]] = observe_ranks
    rehearse: Callable[..., npt.NDArray[np.float64]] = rehearse_places


STEPS = InsideSteps()


@dataclasses.dataclass(frozen=True, eq=False)
class FoundMapping:
    """A mapping, with all that it was made from.

    Attributes:
        placement: A host for each rank.
        usual: CPUs of each rank by the launcher.
        hosts: The places that were mapped.
        mapping: The CPUs that were chosen.
        network_s: Time on the network with this placement.
        path: File in which the outcome of a rehearsal is kept.
    """

    placement: Placement
    usual: tuple[str, ...]
    hosts: list[HostPlaces]
    mapping: InsideMapping
    network_s: float
    path: Path

    def expected_gain(self) -> Gain:
        """Part of the time of all messages that the mapping is expected to save."""
        whole_s = self.network_s + self.mapping.before_s
        saved_s = self.mapping.before_s - self.mapping.after_s
        ratio = saved_s / whole_s if whole_s > 0 else 0.0
        return Gain(ratio, ratio, ratio)


class Trial(NamedTuple):
    """What a trial found.

    Attributes:
        cpus: CPUs of each rank; None where they stay the launcher's.
        why: Why.
        gain: Expected saving, by the rehearsal where there was one.
        num_rounds: Rounds of the rehearsal.
        problem: Why ranks cannot have these CPUs; empty where they can.
        is_placement_lost: Whether the launcher no longer starts the placement either.
    """

    cpus: RankCpus | None
    why: str = ""
    gain: Gain | None = None
    num_rounds: int = 0
    problem: str = ""
    is_placement_lost: bool = False


def try_mapping(
    session: Session, decision: Decision, found: FoundMapping, steps: InsideSteps = STEPS
) -> Trial:
    """Start ranks on the CPUs, and rehearse their messages where the network is measured.

    A rehearsal of an earlier run with the same inputs is used again. The start is observed in each
    run, since hosts may have lost CPUs.

    Args:
        session: The inputs of the run.
        decision: The placement on hosts.
        found: The mapping.
        steps: By what it is done.
    """
    kept = None if session.is_network_given else load_mapping(found.path)
    if kept is not None:
        session.directory.record(KEPT_INSIDE, {"file": found.path})
    if kept is not None and not kept.is_taken:
        return Trial(None, _too_little(kept.num_rounds), Gain(*kept.gain), kept.num_rounds)
    placed = session.request.launch_spec(session.cluster, found.placement)
    try:
        with scratch_folder("fairlead-inside-") as folder:
            if kept is not None:
                start = steps.with_chosen_cpus(
                    session.launcher, placed, kept.lists, folder, forms=(kept.by_program,)
                )
                why = _reason(kept.num_hosts, kept.gain[0], kept.num_rounds)
                return Trial(start.cpus, why, Gain(*kept.gain), kept.num_rounds)
            mapping, cpus = _start(session, found, placed, steps, folder)
    except Error as error:
        is_lost = decision.cpus is not None and not _starts(
            session, dataclasses.replace(placed, cpus=decision.cpus), steps
        )
        return Trial(None, problem=str(error), is_placement_lost=is_lost)
    gain = dataclasses.replace(found, mapping=mapping).expected_gain()
    by_rates = Trial(cpus, _reason(mapping.num_hosts, gain.ratio, 0), gain)
    return by_rates if session.is_network_given else _rehearse(session, found, by_rates, steps)


def _start(
    session: Session, found: FoundMapping, placed: LaunchSpec, steps: InsideSteps, folder: Path
) -> tuple[InsideMapping, RankCpus]:
    """The mapping whose CPUs the launcher gives; under its limit where it takes one list.

    Raises:
        Error: There is none.
    """
    try:
        start = steps.with_chosen_cpus(session.launcher, placed, found.mapping.lists, folder)
        mapping = found.mapping
    except Error as error:
        asked = session.request.placing
        mapping = map_inside_alike(
            found.hosts, found.usual, session.traffic,
            method=asked.method, metric=asked.metric, objective=asked.objective, seed=asked.seed,
        )  # fmt: skip
        limited = dataclasses.replace(found, mapping=mapping)
        if not mapping.is_changed or not asked.rule.accepts(limited.expected_gain()):
            raise LaunchError(f"{error}, and one list for all hosts saves too little") from error
        start = steps.with_chosen_cpus(session.launcher, placed, mapping.lists, folder)
    assert start.cpus is not None
    return mapping, start.cpus


def _starts(session: Session, spec: LaunchSpec, steps: InsideSteps) -> bool:
    """Whether the launcher starts ranks on the CPUs of this spec."""
    try:
        with scratch_folder("fairlead-inside-") as folder:
            steps.observe_ranks(session.launcher, spec, folder)
    except Error:
        return False
    return True


def _rehearse(session: Session, found: FoundMapping, by_rates: Trial, steps: InsideSteps) -> Trial:
    """The trial after a rehearsal; by the measured rates where that fails."""
    cpus, asked_s = by_rates.cpus, session.request.network.budget_s
    assert cpus is not None
    session.narrator.report("inside of hosts: rehearsing the program's messages on other CPUs")
    try:
        steps_s = steps.rehearse(
            found.placement,
            RankCpus(found.usual, by_program=cpus.by_program),
            cpus.lists,
            session.traffic,
            launcher=session.launcher,
            cluster=session.cluster,
            rehearsal_s=REHEARSAL_S if asked_s is None else min(REHEARSAL_S, asked_s),
            launcher_args=session.request.launcher.arguments,
        )
    except Error as error:
        session.narrator.report(f"inside of hosts: by the measured rates: {error}")
        return by_rates
    num_rounds = len(steps_s)
    if num_rounds < LEAST_ROUNDS:
        return by_rates
    gain = rehearsed_gain(np.diff(np.log(np.maximum(steps_s, 1e-9)), axis=1)[:, 0])
    rule = session.request.placing.rule
    is_taken = rule.accepts(gain)
    num_hosts = found.mapping.num_hosts
    kept = KeptMapping(
        lists=cpus.lists, by_program=cpus.by_program, num_hosts=num_hosts,
        gain=dataclasses.astuple(gain), num_rounds=num_rounds, is_taken=is_taken,
    )  # fmt: skip
    # As with other decisions: a saving that is likely but too uncertain is rehearsed again, and
    # what another run has disturbed is used for this run alone.
    if (is_taken or gain.ratio < rule.least_ratio) and not session.alongside.others():
        _keep(session, found.path, kept)
    if not is_taken:
        return Trial(None, _too_little(num_rounds), gain, num_rounds)
    return Trial(cpus, _reason(num_hosts, gain.ratio, num_rounds), gain, num_rounds)


def _keep(session: Session, path: Path, kept: KeptMapping) -> None:
    """Keep the outcome for later runs, and note its file, so that it can be forgotten."""
    try:
        keep_mapping(path, kept)
    except InputError as error:
        session.narrator.report_loss(f"inside of hosts: not cached for later runs: {error}")
        return
    session.directory.record(KEPT_INSIDE, {"file": path})


def _reason(num_hosts: int, ratio: float, num_rounds: int) -> str:
    hosts = "host" if num_hosts == 1 else "hosts"
    how = f"{num_rounds} rehearsals" if num_rounds else "the measured rates"
    return (
        f"ranks have other CPUs of the launcher's on {num_hosts} {hosts}: {ratio:.0%} less time of "
        f"messages by {how}"
    )


def _too_little(num_rounds: int) -> str:
    return f"by {num_rounds} rehearsals the saving is too small or too uncertain"
