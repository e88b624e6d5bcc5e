# SPDX-License-Identifier: Apache-2.0
"""What clouds report of where machines stand: AWS, GCP, OCI and Azure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.topologies.documents import read_json
from fairlead.measure.topologies.switch_tree import fill_up, tree_topology
from fairlead.model.topology import Topology

__all__ = ["read_aws", "read_azure", "read_gcp", "read_oci"]

_OF_GCP = ("cluster", "block", "subblock", "host")
_LEVELS_OF_AWS = 3
"""At least, of instance types that AWS gives network nodes of. Source: EC2 user guide."""

_OF_AZURE = ("location", "placementGroupId", "platformFaultDomain")
"""Machines of a fault domain share a switch. Source: Azure, availability sets overview."""

_OF_OCI = ("customerHPCIslandId", "customerNetworkBlock", "customerLocalBlock")


def read_aws(path: Path, nodes: Path | None = None) -> Topology:
    """`aws ec2 describe-instance-topology`: three or four network nodes above each instance.

    Raises:
        InputError: It is something else.
    """
    document = read_json(path)
    instances = document.get("Instances") if isinstance(document, dict) else None
    above = {}
    for index, instance in enumerate(_list(path, "Instances", instances)):
        where = f"Instances[{index}]"
        name = _text(path, f"{where}.InstanceId", instance.get("InstanceId"))
        above[name] = _names(path, f"{where}.NetworkNodes", instance.get("NetworkNodes") or [])
    problems = []
    if document.get("NextToken"):
        problems.append("it is one page of several: NextToken is set; ask without --max-results")
    return _tree(path, "aws", above, nodes, _LEVELS_OF_AWS, problems=problems)


def read_gcp(path: Path, nodes: Path | None = None) -> Topology:
    """`gcloud compute instances list --format json`: cluster, block, subblock and host.

    Raises:
        InputError: It is something else.
    """
    above = {}
    for index, instance in enumerate(_list(path, "the document", read_json(path))):
        name = _text(path, f"[{index}].name", instance.get("name"))
        place = (instance.get("resourceStatus") or {}).get("physicalHostTopology") or {}
        above[name] = _qualify(_known(path, f"[{index}]", place, _OF_GCP))
    return _tree(path, "gcp", above, nodes, len(_OF_GCP))


def read_oci(path: Path, nodes: Path | None = None) -> Topology:
    """An object of hosts and what the metadata service reported to each: rdmaTopologyData.

    Raises:
        InputError: It is something else.
    """
    places = _by_host(path, "rdmaTopologyData")
    above = {host: _known(path, host, place, _OF_OCI) for host, place in places.items()}
    if not any(above.values()):
        raise InputError(f"{path}: no host has a place: expected {', '.join(_OF_OCI)}")
    return _tree(path, "oci", above, nodes, len(_OF_OCI))


def read_azure(path: Path, nodes: Path | None = None) -> Topology:
    """An object of hosts and what the metadata service reported to each: compute.

    Only machines of a scale set or an availability set have a place below their region.

    Raises:
        InputError: It is something else.
    """
    places = _by_host(path, "compute")
    above = {host: _qualify(_known(path, host, place, _OF_AZURE)) for host, place in places.items()}
    if not any(above.values()):
        raise InputError(f"{path}: no host has a place: expected {', '.join(_OF_AZURE)}")
    return _tree(path, "azure", above, nodes, len(_OF_AZURE))


def _by_host(path: Path, part: str) -> dict[str, Mapping[str, Any]]:
    """Documents of hosts, or the part of each that has its place."""
    document = read_json(path)
    if not isinstance(document, dict) or not all(isinstance(v, dict) for v in document.values()):
        raise InputError(f"{path}: expected an object of hosts and their {part}")
    places = {host: place.get(part, place) for host, place in document.items()}
    wrong = next((host for host, place in places.items() if not isinstance(place, dict)), None)
    if wrong is not None:
        raise InputError(f"{path}: {wrong}.{part}: expected an object, got {places[wrong]!r:.80}")
    return places


def _tree(
    path: Path,
    how: str,
    above: dict[str, list[str]],
    nodes: Path | None,
    num_levels: int,
    *,
    problems: Sequence[str] = (),
) -> Topology:
    if nodes is not None:
        above = _rename(nodes, above)
    filled, unknown = fill_up(above, num_levels)
    origin = {"how": how, "file": str(path)}
    return tree_topology(filled, origin, str(path), [*problems, *unknown])


def _rename(nodes: Path, above: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same by host names, from lines of an instance and its host."""
    renamed = {}
    for number, line in enumerate(read_text(nodes).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in above or words[1] in renamed:
            raise InputError(f"{nodes}:{number}: expected an instance and its host, got {line!r}")
        renamed[words[1]] = above[words[0]]
    return renamed


def _known(path: Path, where: str, place: Mapping[str, Any], levels: Sequence[str]) -> list[str]:
    """The names of a place down to the first level that is missing: below it nothing is known."""
    return [
        _text(path, f"{where}.{level}", place[level])
        for level in itertools.takewhile(place.get, levels)
    ]


def _qualify(levels: Sequence[str]) -> list[str]:
    """Names that are unique: a subblock's name may be that of another block's, too."""
    return ["/".join(levels[: end + 1]) for end in range(len(levels))]


def _list(path: Path, where: str, value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise InputError(f"{path}: {where}: expected a list of instances")
    return value


def _text(path: Path, where: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{path}: {where}: expected a name, got {value!r}")
    return value


def _names(path: Path, where: str, value: object) -> list[str]:
    if not isinstance(value, list):
        raise InputError(f"{path}: {where}: expected a list of names, got {value!r}")
    return [_text(path, where, name) for name in value]
