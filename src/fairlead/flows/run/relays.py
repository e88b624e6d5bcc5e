# SPDX-License-Identifier: Apache-2.0
"""The program's messages around slow pairs of hosts: routers, and the plan for the program."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from fairlead.act import mpi_builds
from fairlead.act.launch import LaunchSpec
from fairlead.act.plan.relay import RouterPlace, new_key, write_relay_plan
from fairlead.act.relay.kept_routers import kept_routers
from fairlead.act.relay.routers import run_routers
from fairlead.decide.decision import Decision
from fairlead.decide.host_paths import MOST_RELAYS, faster_pairs, probed_path_table
from fairlead.decide.transfers import Transfers
from fairlead.errors import Error, InputError
from fairlead.files import run_directory
from fairlead.flows.inputs.session import Session
from fairlead.flows.request import RelayRequest
from fairlead.flows.run.features import FeaturePlan, plan_variables, with_variables
from fairlead.model.network import Network
from fairlead.model.path_table import PathTable
from fairlead.narrator import Narrator
from fairlead.units import format_size
from fairlead.watch.kept_paths import recall_paths, remember_paths, with_kept_paths
from fairlead.watch.relay_traffic import RelayTraffic, load_relay_traffic

__all__ = [
    "find_routers",
    "plan_relays",
    "relay_traffic_line",
    "transfers_line",
    "useful_paths",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class RelayedMessages(FeaturePlan):
    """Routers on all hosts while the program runs, and the paths that its messages may take."""

    session: Session
    relays: RelayRequest
    network: Network
    table: PathTable

    @property
    def is_taken(self) -> bool:
        """Messages may be relayed."""
        return True

    @contextlib.contextmanager
    def apply(self, spec: LaunchSpec) -> Iterator[LaunchSpec | None]:
        """The start with the library, which reads the paths and connects to the routers.

        Without routers the program runs as it would without relays, and the user gets the reason.
        """
        with contextlib.ExitStack() as stack:
            started = None
            try:
                key = new_key()
                library = mpi_builds.find(self.session.launcher).intercept
                session = self.session
                routers = stack.enter_context(
                    find_routers(session, key, self.table.hosts, session.narrator)
                )
                write_relay_plan(
                    self.session.directory.file(run_directory.PLAN),
                    self.network, self.table, routers, key,
                    threshold_bytes=self.relays.least_bytes, rule=self.relays.rule,
                    zones=self.relays.zones,
                )  # fmt: skip
                started = with_variables(spec, plan_variables(self.session, library))
            except Error as error:
                stack.close()
                self.session.narrator.report(f"no message is relayed: {error}")
            yield started

    def outcome(self) -> dict[str, Any]:
        """What routers and the MPI have carried; paths of the rule "mcm" are kept for later."""
        session = self.session
        if self.relays.rule == "mcm":
            try:
                remember_paths(session.network, session.directory.path)
            except InputError as error:
                session.narrator.report(f"the path table is not cached: {error}")
        hosts = session.network.hosts
        found = load_relay_traffic(session.directory.path, len(hosts))
        if found is None:
            return {}
        session.narrator.report(relay_traffic_line(found, hosts, self.relays.least_bytes))
        return {
            "relays": {
                "mpi_bytes": found.mpi_bytes,
                "routers_bytes": found.routers_bytes,
                "relayed_bytes": found.relayed_bytes,
            }
        }


def plan_relays(session: Session, decision: Decision) -> FeaturePlan:
    """Relays if the user asked for them, or if it was decided so, and there is a path of use."""
    relays, narrator = session.request.relays, session.narrator
    if relays is None:
        return FeaturePlan(feature="relays", why="not asked for", is_considered=False)
    why, gain, is_considered = "asked for", None, False
    if relays.mode == "auto":
        decided = decision.transfers
        why, gain, is_considered = decided.why, decided.gain, decided.is_considered
        narrator.report(transfers_line(decided))
        if not decided.is_taken:
            return FeaturePlan(feature="relays", why=why, gain=gain, is_considered=is_considered)
    network = _measured_network(session)
    table = useful_paths(network, relays.rule, narrator)
    if table is None:
        return FeaturePlan(
            feature="relays", why="no path of use", gain=gain, is_considered=is_considered
        )
    if relays.rule == "mcm" and (kept := recall_paths(session.network)) is not None:
        narrator.report("relays: the path table of an earlier run is used")
        table = with_kept_paths(table, kept)
    return RelayedMessages(
        feature="relays", why=why, gain=gain, is_considered=is_considered,
        saved_share=None if gain is None else gain.ratio,
        session=session, relays=relays, network=network, table=table,
    )  # fmt: skip


def _measured_network(session: Session) -> Network:
    """The network with those pairs that were measured again for the decision."""
    file = session.directory.file(run_directory.MEASURED_AGAIN)
    return (
        session.network.with_measurements(Network.load(file)) if file.exists() else session.network
    )


def transfers_line(decided: Transfers) -> str:
    """What was decided on relays, for a user."""
    return f"relays: {'taken' if decided.is_taken else 'not taken'}: {decided.why}"


@contextlib.contextmanager
def find_routers(
    session: Session, key: str, hosts: Sequence[str], narrator: Narrator
) -> Iterator[list[RouterPlace]]:
    """Those that are kept, or else some of this run's own; the narrator prints which."""
    with contextlib.ExitStack() as stack:
        kept = None
        try:
            kept = stack.enter_context(kept_routers(key, hosts))
        except Error as error:
            narrator.report(f"the kept routers are not used: {error}")
        if kept is not None:
            narrator.report(f"relays: the kept routers of {len(kept)} hosts")
            yield kept
            return
        routers = stack.enter_context(
            run_routers(
                session.launcher,
                hosts,
                key,
                session.request.launcher.arguments,
                report=narrator.report,
            )
        )
        narrator.report(f"relays: a router on each of {len(routers)} hosts")
        yield routers


def useful_paths(network: Network, rule: str, narrator: Narrator) -> PathTable | None:
    """The paths between hosts; None, and one line of output, if each pair has one.

    Args:
        network: The program's hosts.
        rule: By which messages take paths; "trials" also takes several direct connections.
        narrator: Reports for how many pairs relays are expected to be faster.
    """
    try:
        table = probed_path_table(network, MOST_RELAYS[rule])
    except Error as error:
        narrator.report(f"no message is relayed: {error}")
        return None
    if not table.has_relays:
        lack = "no pair of hosts has a useful path by a third one"
        if rule != "trials":
            narrator.report(f"no message is relayed: {lack}")
            return None
        narrator.report(f"relays: {lack}; several connections are tried")
        return table
    num_pairs = sum(path.is_direct for path in table.paths)
    num_faster = len(faster_pairs(table))
    narrator.report(f"relays: expected to be faster on {num_faster} of {num_pairs} pairs of hosts")
    return table


def relay_traffic_line(traffic: RelayTraffic, hosts: Sequence[str], threshold_bytes: int) -> str:
    """What carried the large messages of a run, for a user.

    Args:
        traffic: By the indices of hosts.
        hosts: Their names.
        threshold_bytes: Size from which messages may be relayed.
    """
    large = f"messages of at least {format_size(threshold_bytes)}"
    all_bytes = traffic.mpi_bytes + traffic.routers_bytes
    if all_bytes == 0:
        return f"relays: no {large} went between hosts"
    if traffic.routers_bytes == 0:
        return f"relays: the MPI carried all {format_size(all_bytes)} in {large}"
    line = (
        f"relays: routers carried {format_size(traffic.routers_bytes)} of "
        f"{format_size(all_bytes)} in {large}"
    )
    if (path := traffic.busiest_relayed_path) is not None:
        names = " → ".join(hosts[host] for host in path)
        line += f", {format_size(traffic.relayed_bytes)} of it by third hosts, most by {names}"
    return line
