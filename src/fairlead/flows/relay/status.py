# SPDX-License-Identifier: Apache-2.0
"""What a run's relays are: the path table of its plan, and what routers and paths have carried."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pydantic

from fairlead.act.plan.network import read_host_names
from fairlead.act.plan.relay import RELAY_FILE
from fairlead.act.relay.counters import router_counters
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.files.json_files import read_json
from fairlead.files.naming import name_source
from fairlead.model.path_table import HostPath, PathTable
from fairlead.watch.past_runs import find_run, latest_run
from fairlead.watch.relay_traffic import RelayTraffic, load_relay_traffic

__all__ = ["RelayStatus", "relay_status"]


@dataclasses.dataclass(frozen=True)
class RelayStatus:
    """Paths and routers of a run.

    Attributes:
        run: Folder of the run.
        threshold_bytes: Smaller messages always go directly.
        rule: By which the others take paths.
        table: Its paths.
        counters: For each host what its router has counted; None where it is not running on this
            machine.
        traffic: What each path carried, and how fast; None before the end of the run.
    """

    run: Path
    threshold_bytes: int
    rule: str
    table: PathTable
    counters: tuple[dict[str, float] | None, ...]
    traffic: RelayTraffic | None


class _Relay(pydantic.BaseModel):
    """The part of the plan's file for relays that is shown."""

    threshold_bytes: int
    rule: str
    sockets: list[Path]
    capacity_Bps: list[list[float | None]]
    routes: tuple[HostPath, ...]


def relay_status(run: Path | None = None) -> RelayStatus:
    """Read the plan of a run and ask its routers.

    Args:
        run: Its folder or name; None for the latest run with relays.

    Raises:
        InputError: There is none, or its plan cannot be read.
    """
    folder = latest_run([f"{run_directory.PLAN}/{RELAY_FILE}"]) if run is None else find_run(run)
    plan = folder / run_directory.PLAN
    if not (plan / RELAY_FILE).exists():
        raise InputError(f"{plan / RELAY_FILE}: no such file; that run had no relays")
    relay = read_json(plan / RELAY_FILE, _Relay)
    capacity = tuple(
        tuple(float("inf") if rate is None else rate for rate in row) for row in relay.capacity_Bps
    )
    hosts = tuple(read_host_names(plan))
    with name_source(plan / RELAY_FILE):
        table = PathTable(hosts, relay.routes, capacity)
    counters = tuple(router_counters(socket.with_name("metrics")) for socket in relay.sockets)
    found = load_relay_traffic(folder, len(hosts))
    return RelayStatus(folder, relay.threshold_bytes, relay.rule, table, counters, found)
