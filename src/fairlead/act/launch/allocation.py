# SPDX-License-Identifier: Apache-2.0
"""The hosts of the allocation that this process runs in, or of the launcher's own variable."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fairlead.act.launch.flux_instance import cluster_from_flux
from fairlead.act.launch.hostfile import parse_hostfile, read_hostfile
from fairlead.act.launch.slurm import cluster_from_slurm, expand_node_list
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster, GivenHosts

__all__ = ["find_allocation", "is_started_by_scheduler"]

# Hydra 4.0.2 and Intel MPI 2021.18 take their hosts from these, also in a scheduler's job, as from
# their option -f; each was tried.
_OF_HYDRA = "HYDRA_HOST_FILE"
_OF_INTEL_MPI = ("I_MPI_HYDRA_HOST_FILE", _OF_HYDRA)
# A list as Slurm has it. Source: Intel MPI, developer reference, Hydra environment variables.
_GROUP_OF_INTEL_MPI = "I_MPI_HYDRA_HOSTS_GROUP"

# A file with a line for each slot: of PBS and Torque, LSF, Cobalt, LoadLeveler.
_SLOT_FILES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "COBALT_NODEFILE", "LOADL_HOSTFILE")

_SLOTS = re.compile(r"[0-9]{1,6}", re.ASCII)

# What shows a job of a scheduler, and the program by which it starts processes on other hosts.
_STARTERS = (
    ("FLUX_URI", "flux"),
    ("SLURM_JOB_ID", "srun"),
    ("PBS_JOBID", "pbsdsh"),
    ("LSB_JOBID", "blaunch"),
    ("PE_HOSTFILE", "qrsh"),
)


def find_allocation(
    launcher: Callable[[], str], env: Mapping[str, str] | None = None
) -> Cluster | None:
    """The hosts of this job, as the launcher takes them; None where no variable names any.

    Args:
        launcher: Gives the launcher's family; called only where a variable of a launcher is set.
        env: The environment to read; None for this process's own.

    Raises:
        InputError: What a variable names cannot be read or is not understood; the message names
            the variable.
    """
    env = os.environ if env is None else env
    family = ""
    if any(env.get(name) for name in (*_OF_INTEL_MPI, _GROUP_OF_INTEL_MPI)):
        family = launcher()
    if family == "mpich" and (path := env.get(_OF_HYDRA)):
        return _of_variable(_OF_HYDRA, path)
    if family == "intel" and (name := next((n for n in _OF_INTEL_MPI if env.get(n)), None)):
        return _without_slots(_of_variable(name, env[name]))
    if family == "intel" and (listed := env.get(_GROUP_OF_INTEL_MPI)):
        hosts = expand_node_list(listed, _GROUP_OF_INTEL_MPI)
        return _without_slots(_of_slots(_GROUP_OF_INTEL_MPI, hosts))
    return _of_scheduler(env)


def is_started_by_scheduler(
    has_program: Callable[[str], object], env: Mapping[str, str] | None = None
) -> bool:
    """Whether the launcher may start its daemons by the scheduler's program, and not by ssh."""
    env = os.environ if env is None else env
    return any(name in env and has_program(program) for name, program in _STARTERS)


def _of_scheduler(env: Mapping[str, str]) -> Cluster | None:
    # An instance of Flux may run in a job of another scheduler.
    for cluster_of in (cluster_from_flux, cluster_from_slurm):
        if (cluster := cluster_of(env)) is not None:
            return cluster
    for name in _SLOT_FILES:
        if path := env.get(name):
            return _of_slots(name, _text(name, path).split())
    if listed := env.get("LSB_MCPU_HOSTS"):
        return _of_pairs("LSB_MCPU_HOSTS", listed)
    if listed := env.get("LSB_HOSTS"):
        return _of_slots("LSB_HOSTS", listed.split())
    if path := env.get("PE_HOSTFILE"):
        return _of_columns("PE_HOSTFILE", _text("PE_HOSTFILE", path))
    return None


def _of_variable(name: str, path: str) -> Cluster:
    """The hosts of a hostfile in the launcher's own form, which the launcher gets as it is."""
    try:
        return read_hostfile(path)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _without_slots(cluster: Cluster) -> Cluster:
    """Hosts that Intel MPI fills by their cores, whatever numbers the file of its variable has.

    It finds the file itself: as an argument for ranks in the order of its lines (-machinefile) the
    same file would mean something else.
    """
    hosts = frozenset(cluster.hosts)
    return dataclasses.replace(cluster, bare_hosts=hosts, given=GivenHosts())


def _text(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(f"{name}={path}: cannot be read: {reason}") from error


def _of_slots(name: str, hosts: list[str]) -> Cluster:
    """A cluster from a list that names each host once for each of its slots."""
    return _parse(name, "".join(f"{host}:1\n" for host in hosts))


def _of_pairs(name: str, listed: str) -> Cluster:
    """A cluster from "h1 4 h2 2"; a host that comes again adds its slots."""
    words = listed.split()
    if len(words) % 2 or not all(map(_SLOTS.fullmatch, words[1::2])):
        raise InputError(f"{name}={listed!r}: expected hosts with their slots, as in 'h1 4 h2 2'")
    return _of_numbers(name, zip(words[::2], words[1::2], strict=True))


def _of_columns(name: str, text: str) -> Cluster:
    """A cluster from lines of a host and its slots; columns after them say where on the host.

    Source: sge_pe(5) has four columns. Open MPI 4.1.4 and Hydra 4.0.2 use the first two.
    """
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) == 1 or not _SLOTS.fullmatch(words[1]):
            raise InputError(f"{name}:{number}: expected a host and its slots, got {line!r:.80}")
        pairs.append((words[0], words[1]))
    return _of_numbers(name, pairs)


def _of_numbers(name: str, pairs: Iterable[tuple[str, str]]) -> Cluster:
    """A cluster from hosts and slots, without those of no slots, on which no rank is started."""
    return _parse(name, "".join(f"{host}:{slots}\n" for host, slots in pairs if int(slots)))


def _parse(name: str, text: str) -> Cluster:
    try:
        return parse_hostfile(text, name)
    except TopologyError as error:
        raise InputError(f"{name}: {error}") from error
