# SPDX-License-Identifier: Apache-2.0
"""Labels of Kubernetes' nodes, by the keys under which clouds, topograph and Kueue write places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.errors import InputError
from fairlead.measure.topologies.documents import (
    as_map,
    as_maps,
    as_text,
    read_document,
    require_few,
)
from fairlead.measure.topologies.switch_tree import fill_up, tree_topology
from fairlead.model.topology import Topology

__all__ = ["read"]

MOST_TIERS = 8

MOST_LABEL_LETTERS = 63
"""Source: Kubernetes, labels and selectors: syntax."""

MOST_TEXTS = 2**20
"""Different keys and values of labels: four for each host of the largest topology."""

FAMILIES: tuple[tuple[str, ...], ...] = (
    tuple(f"fabric.topograph.run/tier-{tier}" for tier in reversed(range(MOST_TIERS))),
    tuple(f"network.topology.nvidia.com/{tier}" for tier in ("core", "spine", "leaf")),
    # Names of topograph before it had these.
    *(
        tuple(f"network.topology.{owner}/{tier}" for tier in ("datacenter", "spine", "block"))
        for owner in ("nvidia.com", "kubernetes.io")
    ),
    tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in range(1, 5)),
    tuple(f"cloud.google.com/gce-topology-{level}" for level in ("block", "subblock", "host")),
    tuple(f"cloud.provider.com/topology-{level}" for level in ("block", "rack")),
    tuple(
        f"oci.oraclecloud.com/rdma.{level}"
        for level in ("hpc_island_id", "network_block_id", "local_block_id")
    ),
    tuple(f"backend.coreweave.cloud/{level}" for level in ("fabric", "superpod", "leafgroup")),
    tuple(f"topology.nebius.com/{level}" for level in ("gpu-cluster-id", "tier-2", "tier-1")),
)
"""Keys of labels, the largest group first. Source: NVIDIA topograph; AWS and Google, placement of
nodes; Kueue, topology aware scheduling, whose own levels may be in the file as a Topology; OCI,
oci-hpc-oke, locality of OKE's nodes; CoreWeave and Nebius, levels of their Kueue topologies."""

KUEUE = "kueue.x-k8s.io/"
"""API of Kueue, whose queues and flavors stand in one file with its topologies."""

HOSTNAME = "kubernetes.io/hostname"


def read(path: Path) -> Topology:
    """`kubectl get nodes -o json` or `-o yaml`, also with Kueue's `topologies`.

    Raises:
        InputError: It is something else, or no node has a label of a known family.
    """
    labels_of: dict[str, Mapping[str, str]] = {}
    levels: list[tuple[str, ...]] = []
    shared: dict[str, str] = {}
    for where, item in _items(path):
        # The API's own lists, as of `kubectl get --raw`, have items without their kind.
        kind = as_text(path, f"{where}.kind", item.get("kind", _kind_of_item(item)))
        if kind == "Topology":
            levels.append(_levels(path, where, item))
        elif kind == "Node":
            meta = as_map(path, f"{where}.metadata", item.get("metadata"))
            name = as_text(path, f"{where}.metadata.name", meta.get("name"))
            labels = as_map(path, f"{where}.metadata.labels", meta.get("labels") or {})
            labels_of[name] = _share(labels, shared)
        elif not str(item.get("apiVersion", "")).startswith(KUEUE):
            raise InputError(f"{path}: {where}.kind: expected Node or Topology, got {kind!r:.80}")
        require_few(path, len(labels_of))
        if len(shared) > MOST_TEXTS:
            raise InputError(f"{path}: nodes have more than {MOST_TEXTS} different labels")
    if not labels_of:
        raise InputError(f"{path}: names no node; expected what kubectl get nodes -o json prints")
    keys = _best_family(path, labels_of, [*levels, *FAMILIES])
    used = [key for key in keys if any(key in labels for labels in labels_of.values())]
    above = {node: _above(labels, used) for node, labels in labels_of.items()}
    filled, problems = fill_up(above, len(used), str(path))
    topless = [node for node, labels in labels_of.items() if above[node] and used[0] not in labels]
    if topless:
        more = f" and {len(topless) - 1} more" if topless[1:] else ""
        problems.append(f"{topless[0]}{more}: no label {used[0]}, so what they share is unknown")
    origin = {"how": "kubernetes", "file": str(path), "labels": list(keys)}
    return tree_topology(filled, origin, str(path), problems)


def _items(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Nodes and topologies, and what errors call them; a document may be one itself."""
    alone: dict[str, Any] = {}
    is_list = False
    for part in read_document(path):
        if part.key == "items":
            is_list = True
            if part.at is None and part.value != []:
                as_maps(path, "items", part.value)
            elif part.at is not None:
                yield part.where, as_map(path, part.where, part.value)
        elif part.at is None:
            alone[part.key or ""] = part.value
    if not is_list and alone:
        yield "items[0]", alone


def _kind_of_item(item: Mapping[str, Any]) -> str | None:
    """Node or Topology, by what it has."""
    spec = item.get("spec")
    if isinstance(spec, dict) and "levels" in spec:
        return "Topology"
    return "Node" if "metadata" in item else None


def _share(labels: Mapping[str, Any], shared: dict[str, str]) -> dict[str, str]:
    """Labels whose texts are kept once for all nodes."""
    texts = ((str(key), str(value)) for key, value in labels.items() if value)
    return {
        shared.setdefault(key, key): shared.setdefault(value, value)
        for key, value in texts
        if len(value) <= MOST_LABEL_LETTERS
    }


def _levels(path: Path, where: str, item: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of a Topology of Kueue, without the node itself."""
    spec = as_map(path, f"{where}.spec", item.get("spec"))
    keys = [
        as_text(path, f"{where}.spec.levels[{index}].nodeLabel", level.get("nodeLabel"))
        for index, level in enumerate(as_maps(path, f"{where}.spec.levels", spec.get("levels")))
    ]
    return tuple(key for key in keys if key != HOSTNAME)


def _best_family(
    path: Path, labels_of: Mapping[str, Mapping[str, Any]], families: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    """The family of which nodes have the most labels; the first of equal ones.

    Raises:
        InputError: No node has one.
    """

    def count(keys: tuple[str, ...]) -> int:
        return sum(key in labels for labels in labels_of.values() for key in keys)

    best = max(families, key=count)
    if count(best) == 0:
        known = ", ".join(keys[-1] for keys in families if keys)
        raise InputError(
            f"{path}: no node has a label of a known topology, such as {known}; other labels are "
            "read by a Topology of Kueue in the same file, which lists them as its levels"
        )
    return best


def _above(labels: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """Groups above a node, down to the first level that is missing after the topmost known.

    Above that, a group of its own stands for each level: two nodes of one rack share it, and others
    are as far as the farthest.
    """
    present = [key for key in keys if labels.get(key)]
    if not present:
        return []
    first = keys.index(present[0])
    top = labels[present[0]]
    unknown = [f"(unknown {key} above {present[0]} {top})" for key in keys[:first]]
    found: list[str] = []
    for key in keys[first:]:
        if not labels.get(key):
            break
        # A rack may be called as one of another block is.
        found.append(f"{found[-1]}/{labels[key]}" if found else str(labels[key]))
    return [*unknown, *found]
