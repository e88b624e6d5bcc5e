# SPDX-License-Identifier: Apache-2.0
"""What clouds report of where machines stand: AWS, GCP, OCI and Azure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.files.whole_file import read_lines
from fairlead.measure.topologies.documents import (
    as_map,
    as_names,
    as_text,
    read_elements,
    read_members,
    require_few,
)
from fairlead.measure.topologies.switch_tree import fill_up, tree_topology
from fairlead.model.topology import Topology

__all__ = ["read_aws", "read_azure", "read_gcp", "read_oci"]

_OF_GCP = ("cluster", "block", "subblock", "host")
_PHYSICAL_HOST = "physicalHost"
"""All but the cluster: block/subblock/host. Source: Compute Engine, REST reference, instances."""

_LEVELS_OF_AWS = 3
"""At least, of instance types that AWS gives network nodes of. Source: EC2 user guide."""

_OF_AZURE = ("location", "placementGroupId", "platformFaultDomain")
"""Machines of a fault domain share a switch. Source: Azure, availability sets overview."""

_OF_OCI = ("customerHPCIslandId", "customerNetworkBlock", "customerLocalBlock")


class _Places:
    """Places of machines by their names, which two zones of a project may both have given.

    Attributes:
        above: Groups above each machine, the largest first; none where it has two places.
        problems: Lines that name those.
    """

    def __init__(self) -> None:
        self.above: dict[str, list[str]] = {}
        self.problems: list[str] = []
        self._named_twice: set[str] = set()

    def add(self, name: str, place: list[str]) -> None:
        """Take a machine, which may come again in the same place."""
        if name in self._named_twice:
            return
        if self.above.setdefault(name, place) != place:
            self._named_twice.add(name)
            self.above[name] = []
            self.problems.append(f"{name} is listed in two places: which of them holds is unknown")


def read_aws(path: Path, nodes: Path | None = None) -> Topology:
    """`aws ec2 describe-instance-topology`: three or four network nodes above each instance.

    Raises:
        InputError: It is something else.
    """
    found = _Places()
    problems = []
    has_instances = False
    for part in read_members(path):
        if part.key == "Instances":
            has_instances = has_instances or part.at is not None or part.value == []
            if part.at is not None:
                instance = as_map(path, part.where, part.value)
                name = as_text(path, f"{part.where}.InstanceId", instance.get("InstanceId"))
                nodes_above = instance.get("NetworkNodes") or []
                found.add(name, as_names(path, f"{part.where}.NetworkNodes", nodes_above))
                require_few(path, len(found.above))
        elif part.key == "NextToken" and part.value:
            problems.append(
                "it is one page of several: NextToken is set; ask without --max-results"
            )
    if not has_instances:
        raise InputError(f"{path}: Instances: expected a list of instances")
    problems += found.problems
    return _tree(path, "aws", found.above, nodes, _LEVELS_OF_AWS, problems=problems)


def read_gcp(path: Path, nodes: Path | None = None) -> Topology:
    """`gcloud compute instances list --format json`: cluster, block, subblock and host.

    Machines without a physicalHostTopology may have the older physicalHost.

    Raises:
        InputError: It is something else.
    """
    found = _Places()
    has_clusters = False
    for index, instance in enumerate(read_elements(path)):
        name = as_text(path, f"[{index}].name", instance.get("name"))
        status = as_map(path, f"[{index}].resourceStatus", instance.get("resourceStatus") or {})
        where = f"[{index}].resourceStatus.physicalHostTopology"
        place = as_map(path, where, status.get("physicalHostTopology") or {})
        levels = _known(path, f"[{index}]", place, _OF_GCP)
        has_clusters = has_clusters or bool(levels)
        if not place and status.get(_PHYSICAL_HOST):
            where = f"[{index}].resourceStatus.{_PHYSICAL_HOST}"
            text = as_text(path, where, status[_PHYSICAL_HOST])
            levels = [part for part in text.split("/") if part]
        found.add(name, _qualify(levels))
        require_few(path, len(found.above))
    num_levels = len(_OF_GCP) if has_clusters else len(_OF_GCP) - 1
    return _tree(path, "gcp", found.above, nodes, num_levels, problems=found.problems)


def read_oci(path: Path, nodes: Path | None = None) -> Topology:
    """An object of hosts and what the metadata service reported to each: rdmaTopologyData.

    Raises:
        InputError: It is something else.
    """
    above = _by_host(path, "rdmaTopologyData", _OF_OCI)
    return _tree(path, "oci", above, nodes, len(_OF_OCI))


def read_azure(path: Path, nodes: Path | None = None) -> Topology:
    """An object of hosts and what the metadata service reported to each: compute.

    Only machines of a scale set or an availability set have a place below their region.

    Raises:
        InputError: It is something else.
    """
    above = _by_host(path, "compute", _OF_AZURE)
    qualified = {host: _qualify(levels) for host, levels in above.items()}
    return _tree(path, "azure", qualified, nodes, len(_OF_AZURE))


def _by_host(path: Path, part: str, levels: Sequence[str]) -> dict[str, list[str]]:
    """Places of hosts, in documents of hosts or in the part of each that has its place.

    Raises:
        InputError: It is something else, or no host has a place.
    """
    above: dict[str, list[str]] = {}
    for member in read_members(path):
        host, document = member.key or "", member.value
        if member.at is not None or not isinstance(document, dict):
            raise InputError(f"{path}: expected an object of hosts and their {part}")
        given = document.get(part, document)
        place = {} if given is None else as_map(path, f"{host}.{part}", given)
        above[host] = _known(path, host, place, levels)
        require_few(path, len(above))
    if not any(above.values()):
        raise InputError(f"{path}: no host has a place: expected {', '.join(levels)}")
    return above


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
    filled, unknown = fill_up(above, num_levels, str(path))
    origin = {"how": how, "file": str(path)}
    return tree_topology(filled, origin, str(path), [*problems, *unknown])


def _rename(nodes: Path, above: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same by host names, from lines of an instance and its host."""
    renamed = {}
    for number, line in enumerate(read_lines(nodes), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in above or words[1] in renamed:
            raise InputError(
                f"{nodes}:{number}: expected an instance and its host, got {line!r:.80}"
            )
        renamed[words[1]] = above[words[0]]
    return renamed


def _known(path: Path, where: str, place: Mapping[str, Any], levels: Sequence[str]) -> list[str]:
    """The names of a place down to the first level that is missing: below it nothing is known.

    Azure's fault domains are numbers in some of its documents, and the first is 0.
    """
    numbered = {
        level: str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for level, value in place.items()
    }
    return [
        as_text(path, f"{where}.{level}", numbered[level])
        for level in itertools.takewhile(numbered.get, levels)
    ]


def _qualify(levels: Sequence[str]) -> list[str]:
    """Names that are unique: a subblock's name may be that of another block's, too."""
    return ["/".join(levels[: end + 1]) for end in range(len(levels))]
