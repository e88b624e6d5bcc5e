# SPDX-License-Identifier: Apache-2.0
"""The plan by which messages go around slow pairs of hosts."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Sequence
from pathlib import Path

from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.errors import InputError, ShapeError
from fairlead.model.network import Network
from fairlead.model.path_table import HostPath, PathTable

__all__ = [
    "DEFAULT_THRESHOLD_BYTES",
    "DEFAULT_ZONES",
    "RELAY_FILE",
    "RELAY_RULES",
    "RouterPlace",
    "new_key",
    "write_relay_plan",
]

VERSION = 3

RELAY_FILE = "relay.json"

DEFAULT_THRESHOLD_BYTES = 65536

RELAY_RULES = ("trials", "mcm")
"""How messages choose paths (relay/routing/path_rules.hpp), the default first."""

DEFAULT_ZONES = (2.0, 4.0)
"""Where MCM's zones medium and high begin, as multiples of the time of a message without load on
the pair's best path."""


@dataclasses.dataclass(frozen=True)
class RouterPlace:
    """Where the router of a host is reached.

    Attributes:
        host: Name of the host.
        address: Where its router and its processes listen.
        port: Port for other routers.
        socket: Unix socket for processes of the host.
    """

    host: str
    address: str
    port: int
    socket: str


def new_key() -> str:
    """A random key for one job, in hexadecimal digits."""
    return secrets.token_hex(32)


def write_relay_plan(
    folder: Path | str,
    network: Network,
    table: PathTable,
    routers: Sequence[RouterPlace],
    key: str,
    *,
    threshold_bytes: int = DEFAULT_THRESHOLD_BYTES,
    is_forced: bool = False,
    is_rehearsal: bool = False,
    rule: str = RELAY_RULES[0],
    zones: tuple[float, float] = DEFAULT_ZONES,
) -> None:
    """Write the plan for relayed messages (docs/reference/plan.md). Only the owner can read it.

    Args:
        folder: Folder for the files; created if it is missing.
        network: All pairs of hosts that the program may run on.
        table: Paths between the same hosts.
        routers: The router of each host, in the same order.
        key: The job's key, by `new_key`.
        threshold_bytes: Size from which messages may be relayed, the same on all ranks.
        is_forced: All such messages are relayed, also where that is slower; for tests.
        is_rehearsal: The messages are those of a rehearsal, which pauses between rows of them.
        rule: One of RELAY_RULES.
        zones: Where the zones of the rule "mcm" begin: medium and high, from 1.

    Raises:
        ShapeError: The hosts differ, or the table has no times of segments, for the rule "mcm".
        TopologyError: A pair was not measured.
        InputError: The size cannot be used, or the folder cannot be written.
    """
    hosts = tuple(network.hosts)
    if table.hosts != hosts or tuple(router.host for router in routers) != hosts:
        raise ShapeError("plan: expected the hosts of the network in table and routers")
    if rule == "mcm" and len(table.segment_s) != len(hosts):
        raise ShapeError("plan: expected times of segments in the table, for the rule mcm")
    if threshold_bytes < 0:
        raise InputError(f"plan: threshold_bytes: expected >= 0, got {threshold_bytes}")
    if rule not in RELAY_RULES:
        raise InputError(f"plan: rule: expected one of {', '.join(RELAY_RULES)}, got {rule!r}")
    if not 1.0 <= zones[0] <= zones[1] < math.inf:
        raise InputError(f"plan: zones: expected 1 <= medium <= high, got {zones}")
    write_network_plan(folder, network)
    fields: dict[str, object] = {
        "key": key,
        "threshold_bytes": threshold_bytes,
        "is_forced": is_forced,
        "rule": rule,
        "zones": list(zones),
        "sockets": [router.socket for router in routers],
        "addresses": [router.address for router in routers],
        "capacity_Bps": _without_infinity(table.capacity_Bps),
        "segment_s": _without_infinity(table.segment_s) if rule == "mcm" else [],
        "routes": [_path_fields(path) for path in table.paths],
    }
    if is_rehearsal:
        fields["is_rehearsal"] = True
    write_plan_file(folder, RELAY_FILE, fields, VERSION, is_private=True)


def _path_fields(path: HostPath) -> dict[str, object]:
    fields = {
        "src": path.src,
        "hops": list(path.hops),
        "latency_s": path.latency_s,
        "bandwidth_Bps": path.bandwidth_Bps,
    }
    return fields if path.use is None else {**fields, "use": path.use}


def _without_infinity(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    """As JSON has it."""
    return [[value if value < math.inf else None for value in row] for row in rows]
