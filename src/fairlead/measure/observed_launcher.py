# SPDX-License-Identifier: Apache-2.0
"""Keeps where a launcher was seen to place ranks, under all that its choice can depend on."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pydantic

from fairlead.act.launch import Launcher
from fairlead.act.launch.choosing_variables import launcher_variables
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.run_directory import cache_folder
from fairlead.measure.profile_cache import key_of, lab_facts, with_folder
from fairlead.model.cluster import Cluster

__all__ = ["Observed", "observed_path", "recall_observed", "remember_observed"]


class Observed(pydantic.BaseModel, extra="forbid"):
    """What a launcher was seen to do.

    Attributes:
        slots: Slots of the hosts whose slots the user did not give.
        host_of_rank: Host of each rank.
    """

    slots: dict[str, int]
    host_of_rank: list[str]


def observed_path(
    launcher: Launcher, cluster: Cluster, num_ranks: int, launcher_args: Sequence[str]
) -> Path:
    """File for the placement of this many ranks under these conditions."""
    given = cluster.given
    hostfile = given.hostfile if given is not None else None
    named = hostfile.read_bytes().hex() if hostfile is not None else None
    hosts = [cluster.hosts, cluster.slots, sorted(cluster.bare_hosts), given is None, named]
    started = [str(launcher.path), launcher.version, *launcher_args, socket.gethostname()]
    facts = ["launcher", num_ranks, *hosts, *started, launcher_variables(), lab_facts()]
    return cache_folder() / "launchers" / f"{key_of(facts)}.json"


def recall_observed(path: Path, max_age_s: float) -> Observed | None:
    """The observation in this file, if it is younger than `max_age_s` and readable."""
    try:
        if not 0 <= time.time() - path.stat().st_mtime <= max_age_s:
            return None
        return read_json(path, Observed)
    except (OSError, InputError):
        return None


def remember_observed(path: Path, observed: Observed) -> None:
    """Keep an observation.

    Raises:
        InputError: The cache cannot be written.
    """
    write_text(with_folder(path), observed.model_dump_json() + "\n")
