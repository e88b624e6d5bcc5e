# SPDX-License-Identifier: Apache-2.0
"""Flux's task map (RFC 34): tasks on nodes as blocks [node, nodes, tasks per node, repeat]."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from fairlead.act.launch.formats._format import Cores, Format
from fairlead.errors import InputError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

__all__ = ["TASKMAP", "encode", "expand"]

Block = tuple[int, int, int, int]

_MOST_TASKS = 100_000_000


def encode(node_of_task: Sequence[int]) -> list[Block]:
    """Blocks for tasks in this order, joined where neighbours can be.

    Runs on one node become rows of ascending nodes, equal rows become repeats.

    Source: RFC 34 (Flux task map), section "Block".
    """
    rows: list[Block] = []
    for node, run in itertools.groupby(node_of_task):
        tasks = len([*run])
        if rows and rows[-1][0] + rows[-1][1] == node and rows[-1][2] == tasks:
            rows[-1] = (rows[-1][0], rows[-1][1] + 1, tasks, 1)
        else:
            rows.append((node, 1, tasks, 1))
    return [
        (node, nodes, tasks, len([*same]))
        for (node, nodes, tasks, _), same in itertools.groupby(rows)
    ]


def expand(blocks: Sequence[Block]) -> list[int]:
    """Node of each task; the inverse of `encode`."""
    return [
        first + node
        for first, nodes, tasks, repeat in blocks
        for _ in range(repeat)
        for node in range(nodes)
        for _ in range(tasks)
    ]


def _render(placement: Placement, cluster: Cluster, _cores: Cores) -> str:
    node_of_host = {host: node for node, host in enumerate(cluster.hosts)}
    blocks = encode([node_of_host[host] for host in placement.host_names()])
    return json.dumps(blocks, separators=(",", ":")) + "\n"


def _parse(text: str, cluster: Cluster) -> list[str]:
    try:
        given = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"not a task map: {error}") from error
    # RFC 34 allows an object around the array.
    blocks = given.get("map") if isinstance(given, dict) else given
    if not isinstance(blocks, list):
        raise InputError("not a task map: expected an array of blocks")
    checked = [_check_block(block, index) for index, block in enumerate(blocks)]
    if sum(nodes * tasks * repeat for _, nodes, tasks, repeat in checked) > _MOST_TASKS:
        raise InputError(f"task map: more than {_MOST_TASKS} tasks")
    nodes_of_tasks = expand(checked)
    for node in nodes_of_tasks:
        if node >= cluster.num_hosts:
            raise InputError(
                f"task map: node {node}, but the cluster has {cluster.num_hosts} hosts"
            )
    return [cluster.hosts[node] for node in nodes_of_tasks]


def _check_block(block: object, index: int) -> Block:
    is_block = (
        isinstance(block, list)
        and len(block) == 4
        and all(type(number) is int for number in block)
        and block[0] >= 0
        and min(block[1:]) >= 1
    )
    if not is_block:
        raise InputError(
            f"task map: block {index}: expected [node, nodes, tasks, repeat], got {block!r}"
        )
    assert isinstance(block, list)
    return (block[0], block[1], block[2], block[3])


TASKMAP = Format(
    name="flux",
    summary="task map of Flux (RFC 34); node I is the I-th host of the cluster",
    render=_render,
    parse=_parse,
    # The map places tasks on the nodes that Flux has allocated, in its order; it chooses no hosts.
    usage=lambda path, num_ranks: (
        f'flux run --taskmap=manual:"$(cat {path})" -n {num_ranks} PROGRAM'
    ),
)
