# SPDX-License-Identifier: Apache-2.0
"""NVIDIA topograph: the layers above each instance, and its models of simulated networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError
from fairlead.files.json_parts import Part
from fairlead.measure.topologies.documents import (
    as_map,
    as_maps,
    as_names,
    as_text,
    read_document,
    require_few,
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
    keys: dict[str, None] = {}
    above: dict[str, list[str]] = {}
    parent_of: dict[str, str] = {}
    blocks: list[tuple[str, str, list[str]]] = []
    shared: dict[str, str] = {}
    num_nodes = 0
    for part in read_document(path):
        keys.setdefault(part.key or "")
        if part.key == "switches":
            _add_switches(path, part, parent_of)
        elif part.key == "instances" and part.value != []:
            name, layers = _instance(path, part)
            above[name] = [shared.setdefault(layer, layer) for layer in layers]
        elif part.key == "blocks" and part.value != []:
            blocks.append(_block(path, part))
            num_nodes += max(1, len(blocks[-1][2]))
        require_few(path, max(len(above), num_nodes))
    if "instances" not in keys and "blocks" not in keys:
        raise InputError(f"{path}: {_EXPECTED}, got {', '.join(keys)[:80]!r}")
    if "instances" not in keys:
        above = _hosts_of_blocks(path, blocks, parent_of)
    else:
        above = _with_layers_of_others(path, above)
    if not above:
        raise InputError(f"{path}: names no host")
    filled, problems = fill_up(above, max(map(len, above.values())), str(path))
    return tree_topology(filled, {"how": "topograph", "file": str(path)}, str(path), problems)


def _instance(path: Path, part: Part) -> tuple[str, list[str]]:
    """A host and the layers above it, the highest first; they are given from the host upwards."""
    where = part.where
    instance = _element(path, part)
    name = as_text(path, f"{where}.id", instance.get("id"))
    layers = as_names(path, f"{where}.network_layers", instance.get("network_layers") or [])
    return name, layers[::-1]


def _with_layers_of_others(path: Path, above: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The hosts below all layers that are known to be above their own.

    An instance may lack its upper layers, and another one on the same switch have them.
    """
    parent_of: dict[str, str] = {}
    for layers in above.values():
        parent_of.update(zip(layers[1:], layers, strict=False))
    return {
        host: [*_way_up(path, layers[0], parent_of)[:-1], *layers] if layers else layers
        for host, layers in above.items()
    }


def _add_switches(path: Path, part: Part, parent_of: dict[str, str]) -> None:
    """The switches below each switch."""
    for name, switch in as_map(path, "switches", part.value or {}).items():
        below = as_map(path, f"switches.{name}", switch).get("switches") or []
        for child in as_names(path, f"switches.{name}.switches", below):
            if parent_of.setdefault(child, name) != name:
                raise InputError(f"{path}: switch {child!r} is below two others")


def _block(path: Path, part: Part) -> tuple[str, str, list[str]]:
    """What errors call a block, its switch and its nodes."""
    where = part.where
    block = _element(path, part)
    switch = as_text(path, f"{where}.switch", block.get("switch"))
    return where, switch, as_names(path, f"{where}.nodes", block.get("nodes"))


def _element(path: Path, part: Part) -> Mapping[str, Any]:
    if part.at is None:
        as_maps(path, part.where, part.value)
    return as_map(path, part.where, part.value)


def _hosts_of_blocks(
    path: Path, blocks: Sequence[tuple[str, str, list[str]]], parent_of: Mapping[str, str]
) -> dict[str, list[str]]:
    """Blocks of nodes on a switch."""
    above: dict[str, list[str]] = {}
    for where, switch, nodes in blocks:
        way = _way_up(path, switch, parent_of)
        for text in nodes:
            for host in expand_node_list(text, f"{path}: {where}.nodes"):
                if host in above:
                    raise InputError(f"{path}: {where}: host {host!r} is in two blocks")
                above[host] = way
            require_few(path, len(above))
    return above


def _way_up(path: Path, switch: str, parent_of: Mapping[str, str]) -> list[str]:
    way = [switch]
    while way[-1] in parent_of:
        way.append(parent_of[way[-1]])
        if len(way) > len(parent_of) + 1:
            raise InputError(f"{path}: switch {switch!r} is below itself")
    return way[::-1]
