# SPDX-License-Identifier: Apache-2.0
"""The hosts and slots of the Slurm allocation that this process runs in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from fairlead.act.launch.host_names import host_name_problem
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster, GivenHosts

__all__ = ["cluster_from_slurm", "expand_node_list", "expand_tasks_per_node"]

_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?", re.ASCII)
_MOST_HOSTS = 100_000


def cluster_from_slurm(env: Mapping[str, str] | None = None) -> Cluster | None:
    """The cluster of this Slurm job; None outside a job.

    Args:
        env: The environment to read; None for this process's own.

    Raises:
        InputError: A Slurm variable is missing or not understood; the message names it.
    """
    env = os.environ if env is None else env
    nodes = env.get("SLURM_JOB_NODELIST") or env.get("SLURM_NODELIST")
    if not nodes:
        return None
    # A job that asked for processors rather than tasks has only the second one.
    name = next(
        (n for n in ("SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE") if env.get(n)), None
    )
    if name is None:
        raise InputError("SLURM_TASKS_PER_NODE is not set in this Slurm job; give --hostfile")
    hosts = expand_node_list(nodes)
    slots = expand_tasks_per_node(env[name], name)
    if len(hosts) != len(slots):
        raise InputError(
            f"{name}={env[name]!r} is for {len(slots)} hosts, SLURM_JOB_NODELIST names {len(hosts)}"
        )
    try:
        return Cluster(tuple(hosts), tuple(slots), source="Slurm's allocation", given=GivenHosts())
    except TopologyError as error:
        raise InputError(f"SLURM_JOB_NODELIST={nodes!r}: {error}") from error


def expand_node_list(text: str, name: str = "SLURM_JOB_NODELIST") -> list[str]:
    """Host names of a Slurm node list such as "n[01-03,7],login", like `scontrol show hostnames`.

    `name` is the name of the list in errors.

    Source: Slurm's documentation of hostlist expressions; leading zeros give the width.
    """
    hosts: list[str] = []
    for part in _split_outside_brackets(text, name):
        for host in _expand(part, text, name):
            problem = host_name_problem(host)
            if problem:
                raise InputError(f"{name}={text!r}: {problem}")
            hosts.append(host)
            if len(hosts) > _MOST_HOSTS:
                raise InputError(f"{name}={text!r}: more than {_MOST_HOSTS} hosts")
    return hosts


def _split_outside_brackets(text: str, name: str) -> list[str]:
    if re.search(r"\[[^\]]*\[|\][^\[]*\]|^[^\[]*\]|\[[^\]]*$", text):
        raise InputError(f"{name}={text!r}: brackets do not match")
    return re.split(r",(?![^\[]*\])", text)


def _expand(part: str, text: str, name: str) -> Iterator[str]:
    """Host names of one element; several brackets multiply, the last one runs fastest."""
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    inside, _, after = rest.partition("]")
    for piece in inside.split(","):
        found = _RANGE.fullmatch(piece)
        if not found or (found[2] and int(found[2]) < int(found[1])):
            raise InputError(f"{name}={text!r}: {piece!r} is no range of numbers")
        width = len(found[1])
        for number in range(int(found[1]), int(found[2] or found[1]) + 1):
            for tail in _expand(after, text, name):
                yield f"{before}{number:0{width}d}{tail}"


def expand_tasks_per_node(text: str, name: str = "SLURM_TASKS_PER_NODE") -> list[int]:
    """Tasks of each host from Slurm's form "4(x3),2"."""
    tasks: list[int] = []
    for piece in text.split(","):
        found = _TASKS.fullmatch(piece)
        repeat = int(found[2] or 1) if found else 0
        if not found or not 1 <= repeat <= _MOST_HOSTS:
            raise InputError(f"{name}={text!r}: {piece!r} is not understood; expected 4 or 4(x3)")
        tasks += [int(found[1])] * repeat
    return tasks
