# SPDX-License-Identifier: Apache-2.0
"""Which placement a program gets: a kept one while nothing has changed, or one decided now."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.decide.expected_gain import Gain
from fairlead.decide.placement import COST_OF_OBJECTIVE
from fairlead.decide.search import LEAST_BETTER_RATIO, Question, decide
from fairlead.errors import InputError, ProbeError
from fairlead.files.archive import write_text
from fairlead.files.run_directory import cache_folder
from fairlead.flows.inputs import Prepared, place_prepared
from fairlead.flows.request import Request
from fairlead.measure import profile_cache, rehearsal
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.measure.rehearsal import Rehearsal
from fairlead.model.cluster import Cluster
from fairlead.model.cost import evaluate
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.watch.history import History

__all__ = ["Decision", "decided", "default_budget_s"]

Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]

TYPICAL_LAUNCH_S = 1.0
"""What starting the measuring program takes where nothing is known of it yet."""

MAP_SHARE = 0.08
MAP_S_PER_RANK = 2e-3
"""Time of each search of a placement: this share of the budget, or more where there are many ranks
and a worse placement costs more than the time."""


def default_budget_s(num_hosts: int) -> float:
    """Time of deciding: 3.8 s for 8 hosts, 7.8 s for 32, at most 15 s; the probe included."""
    return min(15.0, 2.5 + num_hosts / 6)


@dataclasses.dataclass(frozen=True)
class Decision:
    """Which placement the program gets, and on what evidence.

    Attributes:
        placement: The placement; None keeps the launcher's own.
        gain: What the best placement saves against the launcher's, as part of the time on the
            network.
        network_s: What the launcher's placement spends on the network in a whole run.
        num_rounds: Rounds of rehearsal behind the gain; 0 where it is predicted only.
        is_kept: Whether it was decided in an earlier run.
        is_barred: Whether a placement was left alone because it had proved slower.
        seconds: Time that measuring and deciding took, now.
    """

    placement: Placement | None
    gain: Gain
    network_s: float
    num_rounds: int = 0
    is_kept: bool = False
    is_barred: bool = False
    seconds: float = 0.0

    def predicted_s(self, launcher_s: float | None) -> float | None:
        """Time of the run, where that on the launcher's placement is known."""
        if launcher_s is None:
            return None
        if self.placement is None:
            return launcher_s
        return launcher_s - min(self.network_s, launcher_s) * self.gain.ratio


def decided(
    prepared: Prepared, request: Request, method: str, history: History, narrator: Narrator
) -> Decision:
    """The decision for what was prepared.

    Raises:
        Error: A measurement failed, or a placement could not be found.
    """
    baseline = place_prepared(prepared, request, "launcher")
    kept = _recalled(_path(prepared, request, method, prepared.network), prepared)
    if kept is not None and not (kept.placement and history.has_proved_slower(kept.placement)):
        narrator.tell("decision: kept from an earlier run; program, hosts and network are the same")
        return dataclasses.replace(kept, seconds=prepared.probe_s)
    budget_s = request.budget_s or default_budget_s(prepared.cluster.num_hosts)
    map_s = max(budget_s * MAP_SHARE, request.num_ranks * MAP_S_PER_RANK)
    question = Question(
        traffic=prepared.traffic,
        network=prepared.network,
        baseline=baseline,
        place=lambda network: place_prepared(prepared, request, method, network, map_s),
        cost=COST_OF_OBJECTIVE[request.objective],
        rule=request.rule,
        is_barred=_barred(prepared, history, COST_OF_OBJECTIVE[request.objective]),
        measurer=_measurer(prepared, narrator),
        budget_s=budget_s - prepared.probe_s,
        seed=request.seed,
    )
    verdict = decide(question)
    decision = Decision(
        verdict.placement,
        verdict.gain,
        verdict.network_s,
        verdict.num_rounds,
        is_barred=verdict.is_barred,
        seconds=prepared.probe_s + verdict.seconds,
    )
    try:
        if verdict.by_long_trains is not None and prepared.profile_path is not None:
            profile_cache.remember(
                Profile(prepared.profile_path, verdict.network, verdict.by_long_trains)
            )
        # Where a saving is likely, but not sure enough, the next run has a budget of its own.
        if decision.placement or decision.gain.ratio < request.rule.least_ratio:
            _keep(decision, method, _path(prepared, request, method, verdict.network))
    except InputError as error:
        narrator.tell(f"decision: not kept for later runs: {error}")
    return decision


def _barred(prepared: Prepared, history: History, cost: str) -> Callable[[Placement], bool]:
    """Tells placements that have proved slower, and those that promise no more than these did.

    Of a placement many others are mirror images. What is predicted of them is the same, so what has
    come of the one is what is to be expected of the others.
    """
    hosts = prepared.cluster.hosts

    def cost_s(placement: Placement) -> float:
        found = evaluate(placement, prepared.traffic, prepared.network)
        return float(getattr(found, cost))

    dropped_s = [
        cost_s(Placement(hosts, np.array([hosts.index(name) for name in names])))
        for names in history.dropped()
        if set(names) <= set(hosts)
    ]
    least_s = min(dropped_s, default=np.inf)
    return lambda placement: bool(cost_s(placement) >= (1 - LEAST_BETTER_RATIO) * least_s)


@dataclasses.dataclass(frozen=True)
class _HostsMeasurer:
    """Measures on the hosts of a run."""

    program: ProbeProgram
    cluster: Cluster
    traffic: Traffic
    first_launch_s: float
    narrator: Narrator

    @property
    def launch_s(self) -> float:
        return 0.0 if self.program.is_running_on(self.cluster) else self.first_launch_s

    def rehearse(
        self,
        placements: Sequence[Placement],
        network: Network,
        rehearsal_s: float,
        pairs: npt.NDArray[np.bool_] | None,
        pairs_s: float,
    ) -> Rehearsal | None:
        self.narrator.tell("decision: rehearsing the traffic of each placement on the network")
        try:
            return rehearsal.rehearse(
                placements,
                self.traffic,
                network,
                self.program,
                self.cluster,
                rehearsal_s=rehearsal_s,
                pairs=pairs,
                pairs_s=pairs_s,
            )
        except ProbeError as error:
            self.narrator.tell(f"decision: by the measured rates: {error}")
            return None


def _measurer(prepared: Prepared, narrator: Narrator) -> _HostsMeasurer | None:
    """None where the user gave the network: it is taken as it is."""
    if prepared.is_network_given:
        return None
    return _HostsMeasurer(
        prepared.probe_program,
        prepared.cluster,
        prepared.traffic,
        TYPICAL_LAUNCH_S if prepared.network.launch_s is None else prepared.network.launch_s,
        narrator,
    )


class _Kept(pydantic.BaseModel, extra="forbid"):
    """A decision as a file."""

    kind: Literal["decision"] = "decision"
    version: Literal[1] = 1
    method: str
    host_of_rank: tuple[str, ...] | None
    gain: tuple[Finite, Finite, Finite, Finite]
    network_s: Finite
    num_rounds: int


def _keep(decision: Decision, method: str, path: Path) -> None:
    placement = decision.placement
    kept = _Kept(
        method=method,
        host_of_rank=None if placement is None else tuple(placement.host_names()),
        gain=dataclasses.astuple(decision.gain),
        network_s=decision.network_s,
        num_rounds=decision.num_rounds,
    )
    profile_cache.with_folder(path)
    write_text(path, kept.model_dump_json(indent=1) + "\n")


def _recalled(path: Path, prepared: Prepared) -> Decision | None:
    """The decision kept there, if it is one for this cluster."""
    try:
        kept = _Kept.model_validate_json(path.read_bytes())
    except (OSError, pydantic.ValidationError):
        return None
    placement = None
    if kept.host_of_rank is not None:
        position = {host: index for index, host in enumerate(prepared.cluster.hosts)}
        if not set(kept.host_of_rank) <= set(position):
            return None
        host_of_rank = np.array([position[host] for host in kept.host_of_rank])
        placement = Placement(prepared.cluster.hosts, host_of_rank, kept.method)
    return Decision(placement, Gain(*kept.gain), kept.network_s, kept.num_rounds, is_kept=True)


def _path(prepared: Prepared, request: Request, method: str, network: Network) -> Path:
    """Named by all that a decision depends on: what changes makes another name."""
    carried, cluster = prepared.traffic.total, prepared.cluster
    options = (method, request.metric, request.objective, request.seed, request.rule)
    digest = hashlib.sha256(
        repr(
            (cluster.hosts, cluster.slots, cluster.sockets, options, request.time_limit_s)
        ).encode()
    )
    for array in (
        network.latency_s,
        network.bandwidth_Bps,
        carried.bytes.data,
        carried.bytes.indices,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    return cache_folder() / "decisions" / f"{digest.hexdigest()[:24]}.json"
