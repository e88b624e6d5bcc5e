# SPDX-License-Identifier: Apache-2.0
"""The hosts and cores of the Flux instance that this process runs in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fairlead.act.launch.process import run
from fairlead.act.launch.slurm import expand_node_list
from fairlead.errors import InputError, LaunchError
from fairlead.model.cluster import Cluster

__all__ = ["cluster_from_flux", "is_in_flux", "parse_resource_set", "rank_of_flux_host"]

_ANSWER_S = 20.0
_IDS = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_LIST_HOSTS = ("flux", "hostlist", "--expand", "instance")
_RESOURCES = ("flux", "resource", "R", "--states=up")


def is_in_flux(env: Mapping[str, str] | None = None) -> bool:
    """Whether this process runs inside an instance: `flux alloc`, `flux batch`, `flux start`."""
    return bool((os.environ if env is None else env).get("FLUX_URI"))


def cluster_from_flux(env: Mapping[str, str] | None = None) -> Cluster | None:
    """The hosts of this instance, with a slot for each core; None outside an instance.

    Args:
        env: The environment to read; None for this process's own.

    Raises:
        InputError: Flux does not answer, or its answer is not understood.
    """
    if not is_in_flux(env):
        return None
    try:
        answer = run([*_RESOURCES], capture=True, timeout_s=_ANSWER_S)
    except LaunchError as error:
        raise InputError(f"{' '.join(_RESOURCES)}: {error}") from error
    if answer.returncode != 0:
        reason = answer.stderr.strip().splitlines()[-1:] or [f"exit code {answer.returncode}"]
        raise InputError(f"{' '.join(_RESOURCES)}: {reason[0]}")
    cores = parse_resource_set(answer.stdout)
    return Cluster(tuple(cores), tuple(cores.values()), source="Flux's instance")


def rank_of_flux_host(host: str) -> int | None:
    """The broker's rank on a host of this instance; None where there is none."""
    try:
        answer = run([*_LIST_HOSTS], capture=True, timeout_s=_ANSWER_S)
    except LaunchError:
        return None
    hosts = answer.stdout.split()
    return hosts.index(host) if host in hosts else None


def parse_resource_set(text: str) -> dict[str, int]:
    """Cores of each host, in the order of the hosts.

    Raises:
        InputError: This is no resource set, or it has no host with a core.

    Source: Flux RFC 20 (Resource Set Specification, version 1); its nodelist is a list of RFC 29.
    """
    try:
        execution: Any = json.loads(text)["execution"]
        hosts = [host for listed in execution["nodelist"] for host in expand_node_list(str(listed))]
        ids = [rank for part in execution["R_lite"] for rank in _expand_ids(part["rank"])]
        host_of_id = dict(zip(sorted(ids), hosts, strict=True))
        num_of_id = {
            rank: len([*_expand_ids(part["children"]["core"])])
            for part in execution["R_lite"]
            for rank in _expand_ids(part["rank"])
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"flux resource R: not a resource set of RFC 20: {text[:80]!r}") from error
    cores: dict[str, int] = {}
    for rank, host in host_of_id.items():  # An instance may have several brokers on a host.
        cores[host] = cores.get(host, 0) + num_of_id[rank]
    if not cores:
        raise InputError("flux resource R: the instance has no host that is up")
    return cores


def _expand_ids(text: str) -> Iterator[int]:
    """The numbers of an idset (RFC 22): "0-3,7"."""
    for part in str(text).split(","):
        found = _IDS.fullmatch(part.strip())
        if found is None:
            raise ValueError(part)
        yield from range(int(found[1]), int(found[2] or found[1]) + 1)
