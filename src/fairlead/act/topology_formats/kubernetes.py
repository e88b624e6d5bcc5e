# SPDX-License-Identifier: Apache-2.0
"""Labels of Kubernetes' nodes, under the keys by which schedulers know topologies.

Source: NVIDIA topograph, node labels: `network.topology.nvidia.com/leaf`, `spine` and `core` up to
its version 0.5, `fabric.topograph.run/tier-N` since version 1.0.
"""

from __future__ import annotations

import yaml

from fairlead.act.topology_formats.plain_names import plain_names, require_plain_hosts
from fairlead.model.host_groups import HostGroups

__all__ = ["TIERS", "TIER_PREFIX", "node_list"]

TIERS = tuple(f"network.topology.nvidia.com/{tier}" for tier in ("leaf", "spine", "core"))
"""Keys of the switch next to the node, of the one above it, and of the one above that."""

TIER_PREFIX = "fabric.topograph.run/tier-"


def node_list(groups: HostGroups) -> str:
    """A list of nodes with their labels; their other labels stay when it is applied."""
    require_plain_hosts(groups.groups_of_host, "kubernetes")
    plain = plain_names(name for level in groups.levels() for name in level)
    items = []
    for host, names in groups.groups_of_host.items():
        from_below = [plain[name] for name in reversed(names)]
        labels = dict(zip(TIERS, from_below, strict=False))
        labels |= {f"{TIER_PREFIX}{tier}": name for tier, name in enumerate(from_below)}
        items.append(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": host, "labels": labels}}
        )
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=False)
