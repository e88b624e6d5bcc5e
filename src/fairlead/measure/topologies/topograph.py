# SPDX-License-Identifier: Apache-2.0
"""NVIDIA topograph: the layers above each instance, and its models of simulated networks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.measure.topologies.documents import (
    as_map,
    as_maps,
    as_names,
    as_text,
    read_document,
)
from fairlead.measure.topologies.switch_tree import fill_up, tree_topology
from fairlead.model.topology import Topology

__all__ = ["read"]

_EXPECTED = "expected `instances` with their `network_layers`, or `switches` and `blocks`"


def read(path: Path) -> Topology:
    """What topograph gives as a graph, or a model as its simulation reads it.

    Its output for Slurm is a topology.conf, and its labels are those of Kubernetes' nodes.

    Raises:
        InputError: It is something else; a switch is unknown or below itself.
    """
    document = as_map(path, "the document", read_document(path))
    if "instances" in document:
        above = _instances(path, document)
    elif "blocks" in document:
        above = _model(path, document)
    else:
        raise InputError(f"{path}: {_EXPECTED}, got {', '.join(map(str, document))[:80]}")
    if not above:
        raise InputError(f"{path}: names no host")
    filled, problems = fill_up(above, max(map(len, above.values())))
    return tree_topology(filled, {"how": "topograph", "file": str(path)}, str(path), problems)


def _instances(path: Path, document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Layers are given from the host upwards."""
    above = {}
    for index, instance in enumerate(as_maps(path, "instances", document["instances"])):
        where = f"instances[{index}]"
        name = as_text(path, f"{where}.id", instance.get("id"))
        layers = as_names(path, f"{where}.network_layers", instance.get("network_layers") or [])
        above[name] = layers[::-1]
    return above


def _model(path: Path, document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Blocks of nodes on a switch, and the switches below each switch."""
    parent_of: dict[str, str] = {}
    switches = as_map(path, "switches", document.get("switches") or {})
    for name, switch in switches.items():
        below = as_map(path, f"switches.{name}", switch).get("switches") or []
        for child in as_names(path, f"switches.{name}.switches", below):
            if parent_of.setdefault(child, name) != name:
                raise InputError(f"{path}: switch {child!r} is below two others")
    above = {}
    for index, block in enumerate(as_maps(path, "blocks", document["blocks"])):
        where = f"blocks[{index}]"
        switch = as_text(path, f"{where}.switch", block.get("switch"))
        way = _way_up(path, switch, parent_of)
        for text in as_names(path, f"{where}.nodes", block.get("nodes")):
            for host in expand_node_list(text, f"{path}: {where}.nodes"):
                if host in above:
                    raise InputError(f"{path}: {where}: host {host!r} is in two blocks")
                above[host] = way
    return above


def _way_up(path: Path, switch: str, parent_of: Mapping[str, str]) -> list[str]:
    way = [switch]
    while way[-1] in parent_of:
        way.append(parent_of[way[-1]])
        if len(way) > len(parent_of) + 1:
            raise InputError(f"{path}: switch {switch!r} is below itself")
    return way[::-1]
