# SPDX-License-Identifier: Apache-2.0
"""All forms in which groups of hosts are written, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairlead.act.topology_formats import graphviz, json_groups, kubernetes, slurm
from fairlead.model.host_groups import HostGroups

__all__ = ["TOPOLOGY_FORMATS", "TopologyFormat"]


class TopologyFormat(NamedTuple):
    """A form.

    Attributes:
        text: What is written.
        summary: What it is and who reads it, in one line.
    """

    text: Callable[[HostGroups], str]
    summary: str


TOPOLOGY_FORMATS: dict[str, TopologyFormat] = {
    "slurm-topology": TopologyFormat(slurm.tree_conf, "topology.conf of Slurm's topology/tree"),
    "slurm-block": TopologyFormat(
        slurm.block_conf, "topology.conf of Slurm's topology/block (23.11 and later)"
    ),
    "slurm-topology-yaml": TopologyFormat(
        slurm.yaml_text, "topology.yaml, with the tree and the blocks (Slurm 25.05 and later)"
    ),
    "kubernetes": TopologyFormat(
        kubernetes.node_list, "labels of nodes, for kubectl apply --server-side -f"
    ),
    "dot": TopologyFormat(graphviz.dot, "a graph, for Graphviz' dot"),
    "json": TopologyFormat(json_groups.document, "groups and their hosts"),
}
"""Each is a function of a file; a further one is a line here."""
