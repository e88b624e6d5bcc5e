# SPDX-License-Identifier: Apache-2.0
"""The `.net.npz` file: how a network is written, and read with every field checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fairlead.files.archive import Archive, save_archive
from fairlead.model.bottleneck_group import TABLE_OF_GROUPS, groups_from_table
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.host_inside import INSIDE_ARRAYS, insides_of_archive
from fairlead.model.host_rates import RATES, HostRates

KIND = "network"
VERSION = 3
"""Version 2 has no rates of hosts."""
OLDEST = 2


def save_network(
    path: Path | str,
    arrays: dict[str, npt.NDArray[Any]],
    facts: Mapping[str, Any],
) -> None:
    """Write the file; a reader never sees part of it.

    Args:
        path: The file.
        arrays: The network's numbers by their names.
        facts: Hosts, unreachable, flows, launch_s, origin and insides.
    """
    flows = facts["flows"]
    insides = {host: inside.facts() for host, inside in facts["insides"].items()}
    meta = {
        **{name: fact for name, fact in facts.items() if name != "insides"},
        **({"insides": insides} if insides else {}),
        "flows": None if flows is None else flows._asdict(),
        "orientation": "[src, dst]",
        "units": {"latency_s": "s", "bandwidth_Bps": "B/s"},
    }
    save_archive(path, KIND, VERSION, meta, arrays)


_COORDINATES = "coordinates"
_HOST_RATES, _HOST_CORES = "host_rates", "host_cores"


def load_network(
    path: Path | str,
    per_pair: tuple[str, ...],
    optional: tuple[str, ...],
    per_host: tuple[str, ...],
) -> dict[str, Any]:
    """The fields of a network by their names.

    Args:
        path: The file.
        per_pair: Arrays of shape (H, H) that must be there.
        optional: Those that may be.
        per_host: Arrays of shape (H,) that may be there.

    Raises:
        InputError: The file is missing, damaged, of another kind or version, or a field is of
            another kind; the message names file and field.
    """
    names = (*per_pair, *optional, *per_host)
    others = (_COORDINATES, *TABLE_OF_GROUPS, *INSIDE_ARRAYS, _HOST_RATES, _HOST_CORES)
    archive = Archive(path, KIND, VERSION, (*names, *others), oldest=OLDEST)
    hosts = archive.meta_field("hosts", list)
    if not hosts or not all(isinstance(host, str) and host for host in hosts):
        raise archive.error("meta.hosts", "expected a list of host names")
    shape = (len(hosts), len(hosts))
    return {
        "hosts": hosts,
        "groups": groups_from_table(archive, len(hosts)),
        "insides": insides_of_archive(archive),
        "source": str(path),
        **_facts(archive),
        _COORDINATES: archive.array(_COORDINATES, (len(hosts), -1))
        if _COORDINATES in archive
        else None,
        "host_rates": _check_host_rates(archive, len(hosts)),
        **{name: archive.array(name, shape) for name in per_pair},
        **{name: archive.array(name, shape) for name in optional if name in archive},
        **{name: archive.array(name, shape[:1]) for name in per_host if name in archive},
    }


def _facts(archive: Archive) -> dict[str, Any]:
    return {
        "origin": archive.meta_field("origin", dict),
        "unreachable": _check_reasons(archive),
        "flows": _check_flows(archive),
        "launch_s": _check_launch_s(archive),
    }


def _check_host_rates(archive: Archive, num_hosts: int) -> HostRates | None:
    if _HOST_RATES not in archive:
        return None
    values = archive.array(_HOST_RATES, (num_hosts, len(RATES), 3))
    return HostRates(values, archive.array(_HOST_CORES, (num_hosts,), is_whole=True))


def _check_reasons(archive: Archive) -> dict[str, str]:
    reasons: dict[str, str] = archive.meta_field("unreachable", dict)
    for host, why in reasons.items():
        if not isinstance(why, str):
            name = f"meta.unreachable.{host}"
            raise archive.error(name, f"expected a reason in words, got {why!r}")
    return reasons


def _check_flows(archive: Archive) -> FlowsSummary | None:
    value = archive.meta_field("flows", dict, type(None))
    if value is None:
        return None
    is_complete, error = value.get("is_complete"), value.get("error")
    if not isinstance(is_complete, bool):
        problem = f"expected true or false, got {is_complete!r}"
        raise archive.error("meta.flows.is_complete", problem)
    if not isinstance(error, str | None):
        raise archive.error("meta.flows.error", f"expected text or null, got {error!r}")
    return FlowsSummary(is_complete, error)


def _check_launch_s(archive: Archive) -> float | None:
    value = archive.meta_field("launch_s", float, type(None))
    try:
        return None if value is None else float(value)
    except OverflowError as error:
        raise archive.error("meta.launch_s", str(error)) from error
