# SPDX-License-Identifier: Apache-2.0
"""The plan by which collectives follow schedules."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from fairlead.act.plan.network import NETWORK_FILE, read_network_plan, write_network_plan
from fairlead.act.plan.plan_file import write_plan_file
from fairlead.errors import InputError
from fairlead.files.json_files import read_json
from fairlead.model.collective_rule import CollectiveRule, DriftRule, TunedCollectives
from fairlead.model.network import Network

__all__ = [
    "COLLECTIVES_FILE",
    "COLLECTIVES_NETWORK_FILE",
    "CollectivesPlan",
    "read_collectives_plan",
    "write_collectives_plan",
]

COLLECTIVES_FILE = "collectives.json"

COLLECTIVES_NETWORK_FILE = "collectives-network.json"
"""Schedules are those that were timed only if they are planned on the same network, which another
feature's NETWORK_FILE may not be."""

VERSION = 2


@dataclasses.dataclass(frozen=True)
class CollectivesPlan:
    """What a plan says of collectives.

    Attributes:
        network: On which the rules' schedules are planned.
        rules: Which calls follow schedules.
    """

    network: Network
    rules: TunedCollectives


def write_collectives_plan(
    folder: Path | str, network: Network, collectives: TunedCollectives
) -> None:
    """Write which collectives follow schedules, and on which network (docs/reference/plan.md).

    Args:
        folder: Folder for the files; created if it is missing.
        network: All pairs of hosts that the program may run on, those of the rules among them: that
            on which the rules were timed.
        collectives: The rules.

    Raises:
        TopologyError: A pair was not measured, or a host of a rule is not in the network.
        InputError: A host's name cannot be used, or the folder cannot be written.
    """
    rules = [_fields(rule, network) for rule in collectives.rules]
    write_network_plan(folder, network, COLLECTIVES_NETWORK_FILE)
    fields = {
        "num_ranks": collectives.num_ranks,
        "is_reproducible": collectives.is_reproducible,
        **_drift_fields(collectives.drift),
        "rules": rules,
    }
    write_plan_file(folder, COLLECTIVES_FILE, fields, VERSION)


def read_collectives_plan(folder: Path | str) -> CollectivesPlan:
    """Read what `write_collectives_plan` wrote.

    Raises:
        InputError: A file is missing or damaged; the message names file and field.
    """
    folder = Path(folder)
    record = read_json(folder / COLLECTIVES_FILE, _Collectives)
    own = folder / COLLECTIVES_NETWORK_FILE
    network = read_network_plan(own if own.exists() else folder / NETWORK_FILE)
    names = network.hosts
    rules = []
    for rule in record.rules:
        if rule.hosts is not None and max(rule.hosts) >= len(names):
            raise InputError(
                f"{folder / COLLECTIVES_FILE}: rules: a host {max(rule.hosts)}, but "
                f"{network.source} has {len(names)}"
            )
        hosts = None if rule.hosts is None else frozenset(names[host] for host in rule.hosts)
        sizes = (rule.min_bytes, rule.max_bytes)
        kind = (rule.operation, rule.method, *sizes, hosts, rule.num_ranks)
        rules.append(CollectiveRule(*kind, rule.least_saved_ratio))
    drift = None
    if record.max_drift_ratio is not None:
        drift = DriftRule(record.max_drift_ratio, record.drift_from, record.max_watching_ratio)
    tuned = TunedCollectives(record.num_ranks, tuple(rules), record.is_reproducible, drift)
    return CollectivesPlan(network, tuned)


def _drift_fields(drift: DriftRule | None) -> dict[str, Any]:
    if drift is None:
        return {}
    return {
        "max_drift_ratio": drift.max_ratio,
        "drift_from": drift.drift_from,
        "max_watching_ratio": drift.max_cost_ratio,
    }


def _fields(rule: CollectiveRule, network: Network) -> dict[str, Any]:
    hosts = None if rule.hosts is None else sorted(map(network.index, rule.hosts))
    untimed = {"least_saved_ratio": rule.least_saved_ratio}
    return {
        "operation": rule.operation,
        "min_bytes": rule.min_bytes,
        "max_bytes": rule.max_bytes,
        "hosts": hosts,
        "num_ranks": rule.num_ranks,
        "method": rule.method,
        **({} if rule.least_saved_ratio is None else untimed),
    }


Whole = Annotated[int, pydantic.Field(ge=0)]
_Ratio = Annotated[float, pydantic.Field(gt=0)]


class _Rule(pydantic.BaseModel, extra="forbid"):
    operation: str
    min_bytes: Whole
    max_bytes: Whole | None
    hosts: Annotated[list[Whole], pydantic.Field(min_length=1)] | None
    num_ranks: Annotated[int, pydantic.Field(ge=1)] | None = None
    method: str
    least_saved_ratio: Annotated[float, pydantic.Field(ge=0, lt=1)] | None = None


class _Collectives(pydantic.BaseModel, extra="forbid"):
    format: Literal["fairlead-collectives"]
    version: Literal[2]
    num_ranks: Annotated[int, pydantic.Field(ge=1)]
    is_reproducible: bool
    max_drift_ratio: _Ratio | None = None
    drift_from: Literal["measured", "predicted"] = "measured"
    max_watching_ratio: _Ratio = DriftRule.max_cost_ratio
    rules: list[_Rule]
