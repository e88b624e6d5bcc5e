# SPDX-License-Identifier: Apache-2.0
"""What a run's relays are: the path table of its plan, and what its routers have done."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from fairlead.act.plan.network import NETWORK_FILE
from fairlead.act.plan.relay import RELAY_FILE
from fairlead.act.relay.counters import router_counters
from fairlead.errors import InputError
from fairlead.files import run_directory
from fairlead.model.path_table import PathTable, Route
from fairlead.watch.past_runs import find_run, latest_run

__all__ = ["RelayStatus", "relay_status"]


@dataclasses.dataclass(frozen=True)
class RelayStatus:
    """Routes and routers of a run.

    Attributes:
        run: Folder of the run.
        threshold_bytes: Smaller messages always go directly.
        table: Its routes.
        counters: For each host what its router has counted; None where it is not running on this
            machine.
    """

    run: Path
    threshold_bytes: int
    table: PathTable
    counters: tuple[dict[str, float] | None, ...]


def relay_status(run: Path | None = None) -> RelayStatus:
    """Read the plan of a run and ask its routers.

    Args:
        run: Its folder or name; None for the latest run with relays.

    Raises:
        InputError: There is none, or its plan cannot be read.
    """
    folder = latest_run([f"{run_directory.PLAN}/{RELAY_FILE}"]) if run is None else find_run(run)
    plan = folder / run_directory.PLAN
    relay = _read(plan / RELAY_FILE)
    network = _read(plan / NETWORK_FILE)
    try:
        routes = tuple(
            Route(row["src"], tuple(row["hops"]), row["latency_s"], row["bandwidth_Bps"])
            for row in relay["routes"]
        )
        capacity = tuple(
            tuple(float("inf") if rate is None else float(rate) for rate in row)
            for row in relay["capacity_Bps"]
        )
        table = PathTable(tuple(names[0] for names in network["hosts"]), routes, capacity)
        sockets = [Path(socket) for socket in relay["sockets"]]
        threshold_bytes = int(relay["threshold_bytes"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{plan / RELAY_FILE}: not a plan for relays: {error}") from error
    counters = tuple(router_counters(socket.with_name("metrics")) for socket in sockets)
    return RelayStatus(folder, threshold_bytes, table, counters)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; that run had no relays") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path}: expected a JSON object")
    return document
