# SPDX-License-Identifier: Apache-2.0
"""Whether a run with `--relay auto` relays messages, and on which placement: by a rehearsal.

With `--relay always` only the placement is open.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairlead.act import mpi_builds
from fairlead.act.plan.relay import new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.decide.decision import Decision
from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.host_paths import MOST_RELAYS, probed_path_table
from fairlead.decide.noise import with_pooled_noise
from fairlead.decide.placement import COST_OF_OBJECTIVE
from fairlead.decide.relayed_placement import find_relayed_placement
from fairlead.decide.search import SearchResult, mapping_s
from fairlead.decide.transfers import (
    NOT_CONSIDERED,
    TRANSFERS_S,
    Transfers,
    combinations_of,
    judge_combinations,
    reason_against_trying,
)
from fairlead.errors import Error
from fairlead.flows.inputs.binding import binding_s
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import RelayRequest
from fairlead.flows.run.relays import find_routers
from fairlead.measure.transfer_rehearsal import (
    LEAST_REHEARSAL_S,
    MOST_FLOWS,
    Combination,
    rehearse_transfers,
)
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.model.placement import Placement
from fairlead.narrator import Narrator

__all__ = ["decide_transfers"]

LAUNCH_RATIO = 1.5
"""What starting routers and a process for each rank is expected to take, in times of one for each
host."""


def decide_transfers(
    session: Session,
    decision: Decision,
    found: SearchResult,
    rehearse: Callable[..., npt.NDArray[np.float64]] | None = None,
) -> Decision:
    """The decision with relays, where these are worth it; it may be on another placement then.

    Args:
        session: The request, the hosts and the program's traffic.
        decision: What is taken without relays.
        found: The network, and the placements that were rehearsed.
        rehearse: Rehearses combinations; None by routers and the measuring program.
    """
    relays = session.request.relays
    if relays is None:
        return decision
    began_s = time.monotonic()
    attempt = _Attempt(session, relays, decision, found, rehearse or _rehearse)
    chosen, transfers = attempt.decide() if relays.mode == "auto" else attempt.place_for_relays()
    placement, gain, num_rounds = chosen.placement, decision.gain, decision.num_rounds
    if transfers.whole_gain is not None and chosen.key != attempt.base.key:
        gain, num_rounds = transfers.whole_gain, transfers.num_rounds
    is_launchers = placement.host_names() == session.launchers.host_names()
    return dataclasses.replace(
        decision,
        placement=None if is_launchers else placement,
        gain=gain,
        num_rounds=num_rounds,
        transfers=transfers,
        seconds=decision.seconds + time.monotonic() - began_s,
        transfers_budget_s=attempt.extra_s,
    )


class _Attempt:
    """One decision on transfers under way.

    Attributes:
        base: What is taken where this decides nothing.
        extra_s: The time that was added to the budget.
    """

    def __init__(
        self,
        session: Session,
        relays: RelayRequest,
        decision: Decision,
        found: SearchResult,
        rehearse: Callable[..., npt.NDArray[np.float64]],
    ) -> None:
        self._session, self._relays, self._decision, self._found = session, relays, decision, found
        self._rehearse = rehearse
        self._begin_s = time.monotonic()
        taken = _on_cluster(session, decision.placement or session.launchers)
        self.base = Combination(taken, is_relayed=relays.mode == "always")
        self.extra_s = 0.0

    def decide(self) -> tuple[Combination, Transfers]:
        """The combination, and what was decided on relays."""
        table, why = self._look()
        if table is None:
            return self.base, Transfers(False, why)
        self._add_time()
        relayed = [self.base.placement, *self._further_placement(table)]
        combinations = combinations_of(self._direct_placements(), relayed, self._is_dropped)
        if not any(one.is_relayed for one in combinations):
            self.extra_s = 0.0
            return self.base, Transfers(False, "relays have proved slower in earlier runs")
        return self._judge(combinations, table)

    def place_for_relays(self) -> tuple[Combination, Transfers]:
        """The same where relays are asked for: nothing is rehearsed unless a placement may gain."""
        nothing = self.base, NOT_CONSIDERED
        table, _ = self._look()
        if table is None:
            return nothing
        self._add_time()
        further = self._further_placement(table)
        relayed = [self._launchers(), self.base.placement, *further]
        combinations = combinations_of([], relayed, self._is_dropped)
        if not further or self.base.key not in [one.key for one in combinations]:
            self.extra_s = 0.0
            return nothing
        chosen, transfers = self._judge(combinations, table)
        return chosen, dataclasses.replace(
            NOT_CONSIDERED,
            whole_gain=transfers.whole_gain,
            num_rounds=transfers.num_rounds,
            tried=transfers.tried,
        )

    def _look(self) -> tuple[PathTable | None, str]:
        """The paths on which a rehearsal is worth it; None and the reason where it is not."""
        session, network = self._session, self._found.network
        if session.is_network_given:
            return None, "the network was given, and nothing is rehearsed"
        if session.library_lack:
            return None, session.library_lack
        table = _table(network, self._relays)
        why = reason_against_trying(
            [self.base.placement, *self._others()], session.traffic, network, table,
            num_combinations=1 + len(self._direct_placements()),
            least_bytes=self._relays.least_bytes,
            sends_by_tcp=session.probe_program.sends_by_tcp,
        )  # fmt: skip
        return (table, "") if why is None else (None, why)

    def _launchers(self) -> Placement:
        return _on_cluster(self._session, self._session.launchers)

    def _is_launchers(self, placement: Placement) -> bool:
        return placement.host_names() == self._session.launchers.host_names()

    def _direct_placements(self) -> list[Placement]:
        """Those that are rehearsed without relays.

        The one that is taken, and the launcher's where the search has not rehearsed both.
        """
        base = self.base.placement
        if self._is_launchers(base) or self._base_log_ratios() is not None:
            return [base]
        return [self._launchers(), base]

    def _base_log_ratios(self) -> npt.NDArray[np.float64] | None:
        """The rounds of the search with the placement taken; None where there are none."""
        names = self.base.placement.host_names()
        rounds = [
            one.log_ratios
            for one in self._found.candidates
            if one.num_rounds and one.placement.host_names() == names
        ]
        return rounds[0] if rounds and not self.base.is_relayed else None

    def _others(self) -> list[Placement]:
        """The best known one that differs from the one taken: the launcher's if that is not it."""
        if not self._is_launchers(self.base.placement):
            return [self._launchers()]
        best = max(self._found.candidates, key=lambda one: one.gain.ratio, default=None)
        return [] if best is None else [_on_cluster(self._session, best.placement)]

    def _further_placement(self, table: PathTable) -> list[Placement]:
        """One that is predicted to be better with relays, too; none where none is."""
        session, placing = self._session, self._session.request.placing
        num_combinations = len(self._direct_placements()) + 2
        if num_combinations * session.traffic.carried.bytes.nnz > MOST_FLOWS:
            return []
        limit_s = mapping_s(self._decision.budget_s or 0.0, session.request.num_ranks)
        has_time = self._left_s() >= limit_s + LEAST_REHEARSAL_S
        found = find_relayed_placement(
            self.base.placement, self._others(), session.traffic, self._found.network, table,
            place=(lambda network: session.place(placing.method, network, limit_s))
            if has_time else None,
            cost=COST_OF_OBJECTIVE[session.objective],
        )  # fmt: skip
        return [] if found is None else [_on_cluster(session, found)]

    def _is_dropped(self, one: Combination) -> bool:
        is_launchers = self._is_launchers(one.placement)
        names = None if is_launchers else one.placement.host_names()
        return self._session.log.dropped.has_relaying(names)

    def _add_time(self) -> None:
        """Routers and a process for each rank are started beyond the default budget."""
        if self._session.request.network.budget_s is None:
            self.extra_s = TRANSFERS_S

    def _left_s(self) -> float:
        """What is left of the budget for the rounds of a rehearsal, once its processes run."""
        spent_s = self._session.probe_s + self._decision.seconds + binding_s(self._session)
        spent_s += time.monotonic() - self._begin_s
        launch_s = LAUNCH_RATIO * (self._session.network.launch_s or 1.0)
        return (self._decision.budget_s or 0.0) + self.extra_s - spent_s - launch_s

    def _judge(
        self, combinations: Sequence[Combination], table: PathTable
    ) -> tuple[Combination, Transfers]:
        session, left_s = self._session, self._left_s()
        # Without a result the next run tries once more: it finds the network measured, and has the
        # time for that.
        is_first = session.has_probed
        if left_s < LEAST_REHEARSAL_S:
            return self.base, Transfers(False, "no time is left of the budget", is_open=is_first)
        session.narrator.report(
            "decision: rehearsing the program's messages directly and with relays"
        )
        try:
            steps_s = self._rehearse(
                *(session, self._relays, combinations),
                network=self._found.network, table=table, left_s=left_s,
            )  # fmt: skip
        except (Error, OSError) as error:
            why = f"the rehearsal failed: {error}"
            return self.base, Transfers(False, why, is_open=is_first)
        rule, base_log_ratios = session.request.placing.rule, self._base_log_ratios()
        chosen, transfers = judge_combinations(
            combinations, self.base, steps_s, rule, base_log_ratios
        )
        is_open = is_first and not transfers.is_considered
        return chosen, dataclasses.replace(transfers, is_open=is_open)


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


def _rehearse(
    session: Session,
    relays: RelayRequest,
    combinations: Sequence[Combination],
    *,
    network: Network,
    table: PathTable,
    left_s: float,
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
            threshold_bytes=0, is_rehearsal=True, rule=relays.rule, zones=relays.zones,
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
            left_s=left_s,
            launcher_args=arguments,
        )
