# SPDX-License-Identifier: Apache-2.0
"""One request with all that a decision needs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.act.launch import Launcher, SharedInput
from fairlead.decide.placement import choose_objective, place
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.first_run import FirstRun, Lever
from fairlead.flows.inputs.run_log import RunLog
from fairlead.flows.inputs.traced_start import TracedProgram
from fairlead.flows.request import Request
from fairlead.measure.probe_program import ProbeProgram
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.watch.concurrent_runs import ConcurrentRuns

EVERY_RANK = "FAIRLEAD_EVERY_RANK"
"""The user's word that all ranks load the library (mpi/intercept/session/features.hpp)."""


@dataclasses.dataclass(frozen=True)
class Session:
    """One request with all that a decision needs.

    Attributes:
        request: What the user asked for.
        narrator: Prints for the user.
        probe_program: The measuring program, with its launcher.
        cluster: Hosts that take part, each measured.
        network: The network between them, in their order.
        program: Its traffic, and the traced run, if there was one now.
        launchers: The placement by the launcher's own start, as it was observed.
        launchers_cpus: CPUs of each rank in that start; empty where they are not known.
        alongside: Other runs on the same hosts at the same time.
        first_run: What the traced run had, where it was the one that was asked for.
        directory: Folder of this run; network and traffic are saved there.
        log: Its history.
        probe_s: Time for measuring the network now, or for checking a kept one.
        has_probed: Whether it was measured now.
        stdin: Standard input of the program, in the traced run and in each later one.
        is_network_given: Whether the user gave the network, and nothing is to be measured.
        basis: What the network rests on, as it is printed with the decision.
        profile_path: Where the network is kept for later runs; None where it is given.
    """

    request: Request
    narrator: Narrator
    probe_program: ProbeProgram
    cluster: Cluster
    network: Network
    program: TracedProgram
    launchers: Placement
    directory: RunDirectory
    log: RunLog
    probe_s: float
    has_probed: bool = False
    stdin: SharedInput = dataclasses.field(default_factory=SharedInput)
    is_network_given: bool = True
    basis: str = "the measured rates"
    profile_path: Path | None = None
    launchers_cpus: tuple[str, ...] = ()
    alongside: ConcurrentRuns = dataclasses.field(default_factory=ConcurrentRuns)
    first_run: FirstRun = dataclasses.field(default_factory=FirstRun)

    @property
    def launcher(self) -> Launcher:
        """The launcher of the program."""
        return self.probe_program.launcher

    @property
    def traffic(self) -> Traffic:
        """The traffic of the program."""
        return self.program.traffic

    @property
    def objective(self) -> str:
        """The objective that was asked for, or the one that weighs hosts in place of it."""
        return choose_objective(self.request.placing.objective, self.traffic, self.network)

    @property
    def library_lack(self) -> str:
        """As `library_lack`."""
        return library_lack(self.launcher)

    def place(
        self, method: str, network: Network | None = None, time_limit_s: float | None = None
    ) -> Placement:
        """The placement that a method finds.

        Args:
            method: Name of the method.
            network: A network to use instead of the session's.
            time_limit_s: For `optimize`, where the user has given none.

        Raises:
            InputError: The method is unknown.
        """
        if method == "launcher":
            return self.launchers
        asked = self.request.placing
        limit_s = time_limit_s if asked.time_limit_s is None else asked.time_limit_s
        return place(
            self.traffic,
            self.network if network is None else network,
            self.cluster,
            method=method,
            metric=asked.metric,
            objective=asked.objective,
            seed=asked.seed,
            time_limit_s=limit_s if method == "optimize" else None,
            uneven=asked.uneven,
        )


class EarlyLook(NamedTuple):
    """What is known before a first run.

    Attributes:
        session: With the network, and without traffic.
        is_sure: Pairs of hosts whose rates are more than those of a quick probe, shape (H, H).
    """

    session: Session
    is_sure: npt.NDArray[np.bool_]


PlanFirst = Callable[[Callable[[], EarlyLook]], Sequence[Lever]]
"""Plans a first run; it calls the function for what is known, if it needs that."""


def library_lack(launcher: Launcher) -> str:
    """Why the library would leave its plan unused in a program; empty where it follows it."""
    if launcher.has_name_service or EVERY_RANK in os.environ:
        return ""
    return (
        f"ranks started by {launcher.name} have no name service by which they agree on a plan "
        f"({EVERY_RANK}=1 confirms that all of them load the library)"
    )
