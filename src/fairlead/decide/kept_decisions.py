# SPDX-License-Identifier: Apache-2.0
"""Decisions kept for later runs, each in a file with a name from all its inputs."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pydantic

from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.run_directory import cache_folder
from fairlead.measure.profile_cache import with_folder
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["decision_path", "keep", "recalled"]

Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]

RULES = 2
"""Raised where decisions are made in another way: those of before are not taken any more."""


class _Kept(pydantic.BaseModel, extra="forbid"):
    """A decision as a file."""

    kind: Literal["decision"] = "decision"
    version: Literal[2] = 2
    method: str
    host_of_rank: tuple[str, ...] | None
    is_barred: bool
    gain: tuple[Finite, Finite, Finite, Finite]
    network_s: Finite
    num_rounds: int


def keep(decision: Decision, method: str, path: Path) -> None:
    """Keep a decision.

    Raises:
        InputError: The cache cannot be written.
    """
    placement = decision.placement
    kept = _Kept(
        method=method,
        host_of_rank=None if placement is None else tuple(placement.host_names()),
        is_barred=decision.is_barred,
        gain=dataclasses.astuple(decision.gain),
        network_s=decision.network_s,
        num_rounds=decision.num_rounds,
    )
    write_text(with_folder(path), kept.model_dump_json(indent=1) + "\n")


def recalled(path: Path, cluster: Cluster) -> Decision | None:
    """The decision in this file, if it is for this cluster."""
    try:
        kept = read_json(path, _Kept)
    except InputError:
        return None
    placement = None
    if kept.host_of_rank is not None:
        position = {host: index for index, host in enumerate(cluster.hosts)}
        if not set(kept.host_of_rank) <= set(position):
            return None
        host_of_rank = np.array([position[host] for host in kept.host_of_rank])
        placement = Placement(cluster.hosts, host_of_rank, kept.method)
    return Decision(
        placement, Gain(*kept.gain), kept.network_s, kept.num_rounds,
        is_barred=kept.is_barred, is_kept=True,
    )  # fmt: skip


def decision_path(
    cluster: Cluster, network: Network, traffic: Traffic, options: tuple[object, ...]
) -> Path:
    """File of a decision; its name changes with each input.

    Args:
        cluster: Hosts and slots.
        network: The measured network between them.
        traffic: What the ranks send one another.
        options: Method, objective and all other inputs.
    """
    facts = (RULES, cluster.hosts, cluster.slots, cluster.sockets, *options)
    digest = hashlib.sha256(repr(facts).encode())
    arrays = network.arrays()
    for name in ("bytes", "messages"):
        sent = getattr(traffic.carried, name)
        arrays |= {f"{name}.{part}": getattr(sent, part) for part in ("data", "indices", "indptr")}
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} ".encode())
        # In memory, whole numbers may be shorter than those from a file.
        wide = np.float64 if array.dtype.kind == "f" else np.int64
        digest.update(np.ascontiguousarray(array, dtype=wide).tobytes())
    return cache_folder() / "decisions" / f"{digest.hexdigest()[:24]}.json"
