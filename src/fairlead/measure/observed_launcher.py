# SPDX-License-Identifier: Apache-2.0
"""Keeps where a launcher was seen to place ranks, under all that its choice can depend on."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pydantic

from fairlead.act.launch import Launcher, LaunchSpec, RankCpus
from fairlead.act.launch.choosing_variables import launcher_variables
from fairlead.act.launch.parameter_files import parameter_files
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.run_directory import cache_folder
from fairlead.measure.profile_cache import key_of, lab_facts, with_folder
from fairlead.model.cluster import Cluster

__all__ = [
    "Observed",
    "ObservedBinding",
    "binding_path",
    "observed_path",
    "recall_binding",
    "recall_observed",
    "remember_binding",
    "remember_observed",
]

_Kept = TypeVar("_Kept", bound=pydantic.BaseModel)


class Observed(pydantic.BaseModel, extra="forbid"):
    """What a launcher was seen to do.

    Attributes:
        slots: Slots of the hosts whose slots the user did not give.
        host_of_rank: Host of each rank.
        cpus_of_rank: CPUs of each rank, in the form of cpuset(7).
    """

    slots: dict[str, int]
    host_of_rank: list[str]
    cpus_of_rank: list[str]


class ObservedBinding(pydantic.BaseModel, extra="forbid"):
    """How ranks of a placement get the CPUs that the launcher's own start gives them.

    Attributes:
        cpus: What is asked for; None where nothing has to be.
        lost: What differs where they cannot have these CPUs.
    """

    cpus: RankCpus | None = None
    lost: str | None = None


def observed_path(
    launcher: Launcher, cluster: Cluster, num_ranks: int, launcher_args: Sequence[str]
) -> Path:
    """File for the placement of this many ranks under these conditions."""
    given = cluster.given
    hostfile = given.hostfile if given is not None else None
    named = hostfile.read_bytes().hex() if hostfile is not None else None
    bare = sorted(cluster.bare_hosts)
    hosts = [cluster.hosts, cluster.slots, cluster.named, bare, given is None, named]
    started = [str(launcher.path), launcher.version, *launcher_args, socket.gethostname()]
    chosen = [launcher_variables(), parameter_files(launcher.path, launcher_args)]
    facts = ["launcher", num_ranks, *hosts, *started, *chosen, lab_facts()]
    return cache_folder() / "launchers" / f"{key_of(facts)}.json"


def binding_path(launcher: Launcher, spec: LaunchSpec) -> Path:
    """File for the binding of a start with a placement, under the same conditions."""
    assert spec.cluster is not None
    assert spec.placement is not None
    assert spec.num_ranks is not None
    words = [*spec.launcher_args, "binding", *spec.placement.host_names()]
    return observed_path(launcher, spec.cluster, spec.num_ranks, words)


def recall_observed(path: Path, max_age_s: float) -> Observed | None:
    """The observation in this file, if it is younger than `max_age_s` and readable."""
    return _recall(path, max_age_s, Observed)


def recall_binding(path: Path, max_age_s: float) -> ObservedBinding | None:
    """The binding in this file, if it is younger than `max_age_s` and readable."""
    return _recall(path, max_age_s, ObservedBinding)


def _recall(path: Path, max_age_s: float, kind: type[_Kept]) -> _Kept | None:
    try:
        if not 0 <= time.time() - path.stat().st_mtime <= max_age_s:
            return None
        return read_json(path, kind)
    except (OSError, InputError):
        return None


def remember_observed(path: Path, observed: Observed) -> None:
    """Keep an observation.

    Raises:
        InputError: The cache cannot be written.
    """
    _remember(path, observed)


def remember_binding(path: Path, binding: ObservedBinding) -> None:
    """Keep a binding.

    Raises:
        InputError: The cache cannot be written.
    """
    _remember(path, binding)


def _remember(path: Path, kept: pydantic.BaseModel) -> None:
    write_text(with_folder(path), kept.model_dump_json() + "\n")
