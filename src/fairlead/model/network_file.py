# SPDX-License-Identifier: Apache-2.0
"""The `.net.npz` file: how a network is written, and read with every field checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.archive import Archive, save_archive
from fairlead.model.bottleneck_group import TABLE_OF_GROUPS, groups_from_table
from fairlead.model.flows_summary import FlowsSummary

KIND = "network"
VERSION = 2
READABLE = (1, VERSION)
"""Version 1 had these fields in the origin."""

_FIELDS = ("unreachable", "flows", "launch_s")


def save_network(
    path: Path | str,
    arrays: dict[str, npt.NDArray[Any]],
    facts: Mapping[str, Any],
) -> None:
    """Write the file; a reader never sees part of it.

    Args:
        path: The file.
        arrays: The network's numbers by their names.
        facts: Hosts, unreachable, flows, launch_s and origin.
    """
    flows = facts["flows"]
    meta = {
        **facts,
        "flows": None if flows is None else flows._asdict(),
        "orientation": "[src, dst]",
        "units": {"latency_s": "s", "bandwidth_Bps": "B/s"},
    }
    save_archive(path, KIND, VERSION, meta, arrays)


_COORDINATES = "coordinates"


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
    archive = Archive(path, KIND, READABLE, (*names, _COORDINATES, *TABLE_OF_GROUPS))
    hosts = archive.meta_field("hosts", list)
    if not hosts or not all(isinstance(host, str) and host for host in hosts):
        raise archive.error("meta.hosts", "expected a list of host names")
    shape = (len(hosts), len(hosts))
    return {
        "hosts": hosts,
        "groups": groups_from_table(archive, len(hosts)),
        "source": str(path),
        **_facts(archive),
        _COORDINATES: archive.array(_COORDINATES, (len(hosts), -1))
        if _COORDINATES in archive
        else None,
        **{name: archive.array(name, shape) for name in per_pair},
        **{name: archive.array(name, shape) for name in optional if name in archive},
        **{name: archive.array(name, shape[:1]) for name in per_host if name in archive},
    }


def _facts(archive: Archive) -> dict[str, Any]:
    origin: dict[str, Any] = archive.meta_field("origin", dict)
    if archive.version == 1:
        facts, where = _facts_of_version_1(origin), "meta.origin"
    else:
        facts, where = {name: archive.meta.get(name) for name in _FIELDS}, "meta"
    return {
        "origin": origin,
        "unreachable": _checked_reasons(archive, f"{where}.unreachable", facts["unreachable"]),
        "flows": _checked_flows(archive, where, facts["flows"]),
        "launch_s": _checked_seconds(archive, f"{where}.launch_s", facts["launch_s"]),
    }


def _facts_of_version_1(origin: dict[str, Any]) -> dict[str, Any]:
    """The fields from the origin, which are removed from it."""
    flows = origin.get("contention")
    if isinstance(flows, dict):
        error = flows.pop("error", None)
        flows = {"is_complete": flows.pop("is_complete", error is None), "error": error}
    return {
        "unreachable": origin.pop("unreachable", None),
        "flows": flows,
        "launch_s": origin.pop("launch_s", None),
    }


def _checked_reasons(archive: Archive, name: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise archive.error(name, f"expected an object, got {value!r}")
    for host, why in value.items():
        if not isinstance(why, str):
            raise archive.error(f"{name}.{host}", f"expected a reason in words, got {why!r}")
    return value


def _checked_flows(archive: Archive, where: str, value: Any) -> FlowsSummary | None:
    if value is None:
        return None
    name = f"{where}.{'contention' if archive.version == 1 else 'flows'}"
    if not isinstance(value, dict):
        raise archive.error(name, f"expected an object, got {value!r}")
    is_complete, error = value.get("is_complete"), value.get("error")
    if not isinstance(is_complete, bool):
        raise archive.error(f"{name}.is_complete", f"expected true or false, got {is_complete!r}")
    if not isinstance(error, str | None):
        raise archive.error(f"{name}.error", f"expected text or null, got {error!r}")
    return FlowsSummary(is_complete, error)


def _checked_seconds(archive: Archive, name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise archive.error(name, f"expected a number or null, got {value!r}")
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(f"{archive.path}: {name}: {error}") from error
