# SPDX-License-Identifier: Apache-2.0
"""The hosts and slots of the Slurm job that this process runs in."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fairlead.act.launch.host_names import host_name_problem
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster, GivenHosts

__all__ = [
    "cluster_from_slurm",
    "environment_of_tools",
    "expand_node_list",
    "expand_tasks_per_node",
    "is_reached_by_launchers",
]

_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
_SEPARATORS = re.compile(r"[,\s]+(?![^\[]*\])", re.ASCII)
_TASKS = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?", re.ASCII)
_MOST_HOSTS = 100_000

# Number of components of a heterogeneous job, and what their variables end with. Slurm had the
# second pair from 17.11 to 19.05.
_COMPONENTS = (("SLURM_HET_SIZE", "_HET_GROUP_"), ("SLURM_PACK_SIZE", "_PACK_GROUP_"))


def cluster_from_slurm(env: Mapping[str, str] | None = None) -> Cluster | None:
    """The cluster of this Slurm job; None outside a job.

    A heterogeneous job has the hosts of all its components, in their order. Launchers find only
    the first component by themselves.

    Args:
        env: The environment to read; None for this process's own.

    Raises:
        InputError: A Slurm variable is missing or not understood; the message names it.
    """
    env = os.environ if env is None else env
    if not _node_list(env):
        return None
    components = _components(env)
    if len(components) == 1:
        return _cluster(_hosts_and_slots(env, ""), GivenHosts())
    slots_of_host: Counter[str] = Counter()
    for suffix in components:
        slots_of_host.update(dict(_hosts_and_slots(env, suffix)))
    return _cluster([*slots_of_host.items()], None)


def is_reached_by_launchers(hosts: Iterable[str], env: Mapping[str, str] | None = None) -> bool:
    """Whether launchers that find a Slurm job by themselves can start ranks on these hosts.

    They take a heterogeneous job for its first component, and refuse hosts of others.
    """
    env = os.environ if env is None else env
    nodes = _node_list(env)
    if not nodes or len(_components(env)) == 1:
        return True
    return set(hosts) <= set(expand_node_list(nodes))


def environment_of_tools(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for launchers of Fairlead's own programs.

    A step of Slurm takes all CPUs of the job on its hosts. Where one of these programs still runs,
    the next launcher would wait for its end: `mpirun` of Open MPI starts its daemons by `srun`.
    """
    whole = dict(os.environ if env is None else env)
    return {"SLURM_OVERLAP": "1", **whole} if _node_list(whole) else whole


def _node_list(env: Mapping[str, str]) -> str | None:
    return env.get("SLURM_JOB_NODELIST") or env.get("SLURM_NODELIST")


def _components(env: Mapping[str, str]) -> list[str]:
    """What the variables of each component end with; one that is empty for an ordinary job."""
    name, ending = next((pair for pair in _COMPONENTS if env.get(pair[0])), ("", ""))
    text = env[name] if name else "1"
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text, re.ASCII):
        raise InputError(f"{name}={text!r}: expected a number of components")
    return [""] if text == "1" else [f"{ending}{index}" for index in range(int(text))]


def _hosts_and_slots(env: Mapping[str, str], suffix: str) -> list[tuple[str, int]]:
    """Hosts and slots of the job, or of the component whose variables end with the suffix."""
    nodes = env.get(f"SLURM_JOB_NODELIST{suffix}") or (None if suffix else _node_list(env))
    if not nodes:
        raise InputError(f"SLURM_JOB_NODELIST{suffix} is not set in this Slurm job")
    # A job that asked for processors rather than tasks has only the second one. In a step, srun
    # sets the first one to the step's own tasks.
    names = (f"SLURM_TASKS_PER_NODE{suffix}", f"SLURM_JOB_CPUS_PER_NODE{suffix}")
    is_in_step = not suffix and _is_of_step(env)
    name = next((n for n in names[is_in_step:] if env.get(n)), None)
    if name is None:
        raise InputError(f"{names[0]} is not set in this Slurm job; give --hostfile")
    hosts = expand_node_list(nodes, f"SLURM_JOB_NODELIST{suffix}")
    slots = expand_tasks_per_node(env[name], name)
    if is_in_step:
        slots = [max(1, cpus // _cpus_per_task(env)) for cpus in slots]
    if len(hosts) != len(slots):
        raise InputError(
            f"{name}={env[name]!r} is for {len(slots)} hosts, SLURM_JOB_NODELIST{suffix} names "
            f"{len(hosts)}"
        )
    return list(zip(hosts, slots, strict=True))


def _is_of_step(env: Mapping[str, str]) -> bool:
    """Whether the tasks are those of a step, and not of the job."""
    of_step = env.get("SLURM_STEP_TASKS_PER_NODE")
    return of_step is not None and of_step == env.get("SLURM_TASKS_PER_NODE")


def _cpus_per_task(env: Mapping[str, str]) -> int:
    text = env.get("SLURM_CPUS_PER_TASK", "1")
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,4}", text, re.ASCII) else 1


def _cluster(hosts: Sequence[tuple[str, int]], given: GivenHosts | None) -> Cluster:
    try:
        return Cluster(
            tuple(host for host, _ in hosts),
            tuple(slots for _, slots in hosts),
            source="Slurm's allocation",
            given=given,
        )
    except TopologyError as error:
        raise InputError(f"SLURM_JOB_NODELIST: {error}") from error


def expand_node_list(text: str, name: str = "SLURM_JOB_NODELIST") -> list[str]:
    """Host names of a Slurm node list such as "n[01-03,7],login", like `scontrol show hostnames`.

    `name` is the name of the list in errors.

    Source: Slurm's documentation of hostlist expressions, whose leading zeros give the width;
    hostlist.c, where commas, spaces, tabs and line breaks separate names, also several of them.
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
    return [part for part in _SEPARATORS.split(text) if part] or [""]


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
    for piece in text.strip().split(","):
        found = _TASKS.fullmatch(piece)
        repeat = int(found[2] or 1) if found else 0
        if not found or not 1 <= repeat <= _MOST_HOSTS:
            raise InputError(f"{name}={text!r}: {piece!r} is not understood; expected 4 or 4(x3)")
        tasks += [int(found[1])] * repeat
    return tasks
