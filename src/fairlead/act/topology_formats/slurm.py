# SPDX-License-Identifier: Apache-2.0
"""Slurm's topology.conf, as a tree or as blocks, and topology.yaml with both.

Source: Slurm, topology.conf(5) and topology.yaml(5).
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from fairlead.act.topology_formats.plain_names import plain_names, require_plain_hosts
from fairlead.model.host_groups import HostGroups

__all__ = ["block_conf", "tree_conf", "yaml_text"]

MOST_BLOCK_SIZES = 8


def tree_conf(groups: HostGroups) -> str:
    """A switch for each group; the lowest ones have the nodes."""
    return _text(
        f"SwitchName={name} {'Nodes' if is_leaf else 'Switches'}={','.join(members)}"
        for name, members, is_leaf in _switches(groups)
    )


def block_conf(groups: HostGroups) -> str:
    """A block for each of the lowest groups."""
    lines = [f"BlockName={name} Nodes={','.join(hosts)}" for name, hosts in _blocks(groups)]
    sizes = ",".join(map(str, _block_sizes(groups)))
    return _text([*lines, f"BlockSizes={sizes}"])


def yaml_text(groups: HostGroups) -> str:
    """The tree as the cluster's default topology, and the blocks as another one."""
    switches = [
        {"switch": name, ("nodes" if is_leaf else "children"): ",".join(members)}
        for name, members, is_leaf in _switches(groups)
    ]
    blocks = [{"block": name, "nodes": ",".join(hosts)} for name, hosts in _blocks(groups)]
    document = [
        {"topology": "tree", "cluster_default": True, "tree": {"switches": switches}},
        {
            "topology": "blocks",
            "cluster_default": False,
            "block": {"block_sizes": _block_sizes(groups), "blocks": blocks},
        },
    ]
    return yaml.safe_dump(document, sort_keys=False, explicit_start=True, width=10**9)


def _switches(groups: HostGroups) -> Iterator[tuple[str, list[str], bool]]:
    """Name and members of each switch, those with nodes first, and whether they are nodes."""
    require_plain_hosts(groups.groups_of_host, "slurm")
    levels = groups.levels()
    plain = plain_names(name for level in levels for name in level)
    for depth in reversed(range(len(levels))):
        is_leaf = depth == len(levels) - 1
        for name, members in levels[depth].items():
            yield plain[name], members if is_leaf else [plain[m] for m in members], is_leaf


def _blocks(groups: HostGroups) -> Iterator[tuple[str, list[str]]]:
    return ((name, nodes) for name, nodes, is_leaf in _switches(groups) if is_leaf)


def _block_sizes(groups: HostGroups) -> list[int]:
    """The size of the smallest block, and its doubles up to all blocks together."""
    sizes = [len(hosts) for _, hosts in _blocks(groups)]
    found = [min(sizes)]
    while len(found) < MOST_BLOCK_SIZES and 2 * found[-1] <= found[0] * len(sizes):
        found.append(2 * found[-1])
    return found


def _text(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
