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
from fairlead.decide.transfers import Transfers
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.pruning import prune_oldest
from fairlead.files.run_directory import cache_folder
from fairlead.measure.profile_cache import with_folder
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

__all__ = ["decision_path", "keep", "load_kept"]

Finite = Annotated[float, pydantic.Field(allow_inf_nan=False)]

MOST_DECISIONS = 2000

RULES = 4
"""Raised where decisions are made in another way: those of before are not taken any more."""


class _KeptTransfers(pydantic.BaseModel, extra="forbid"):
    is_taken: bool
    why: str
    is_considered: bool
    gain: tuple[Finite, Finite, Finite, Finite] | None
    whole_gain: tuple[Finite, Finite, Finite, Finite] | None
    num_rounds: int


class _Kept(pydantic.BaseModel, extra="forbid"):
    """A decision as a file."""

    kind: Literal["decision"] = "decision"
    version: Literal[3] = 3
    method: str
    host_of_rank: tuple[str, ...] | None
    is_dropped: bool
    gain: tuple[Finite, Finite, Finite, Finite]
    network_s: Finite
    num_rounds: int
    transfers: _KeptTransfers


def keep(decision: Decision, method: str, path: Path) -> None:
    """Keep a decision.

    Raises:
        InputError: The cache cannot be written.
    """
    placement = decision.placement
    kept = _Kept(
        method=method,
        host_of_rank=None if placement is None else tuple(placement.host_names()),
        is_dropped=decision.has_dropped,
        gain=dataclasses.astuple(decision.gain),
        network_s=decision.network_s,
        num_rounds=decision.num_rounds,
        transfers=_kept_transfers(decision.transfers),
    )
    write_text(with_folder(path), kept.model_dump_json(indent=1) + "\n")
    prune_oldest(path.parent, "*.json", MOST_DECISIONS)


def load_kept(path: Path, cluster: Cluster) -> Decision | None:
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
        has_dropped=kept.is_dropped, is_kept=True, transfers=_recalled_transfers(kept.transfers),
    )  # fmt: skip


def _kept_transfers(transfers: Transfers) -> _KeptTransfers:
    gains = (transfers.gain, transfers.whole_gain)
    gain, whole_gain = (None if one is None else dataclasses.astuple(one) for one in gains)
    return _KeptTransfers(
        is_taken=transfers.is_taken,
        why=transfers.why,
        is_considered=transfers.is_considered,
        gain=gain,
        whole_gain=whole_gain,
        num_rounds=transfers.num_rounds,
    )


def _recalled_transfers(kept: _KeptTransfers) -> Transfers:
    gains = (kept.gain, kept.whole_gain)
    gain, whole_gain = (None if one is None else Gain(*one) for one in gains)
    return Transfers(kept.is_taken, kept.why, kept.is_considered, gain, whole_gain, kept.num_rounds)


def decision_path(
    cluster: Cluster, network: Network, traffic: Traffic, options: tuple[object, ...]
) -> Path:
    """File of a decision; its name changes with each input.

    Args:
        cluster: Hosts and slots.
        network: The measured network between them.
        traffic: What the ranks send one another, and how long they compute.
        options: Method, objective and all other inputs.
    """
    facts = (RULES, cluster.hosts, cluster.slots, cluster.sockets, *options)
    digest = hashlib.sha256(repr((*facts, traffic.compute_hosts)).encode())
    arrays = network.arrays()
    if traffic.compute_s is not None:
        arrays["compute_s"] = traffic.compute_s
    for name in ("bytes", "messages"):
        sent = getattr(traffic.carried, name)
        arrays |= {f"{name}.{part}": getattr(sent, part) for part in ("data", "indices", "indptr")}
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} ".encode())
        # In memory, whole numbers may be shorter than those from a file.
        wide = np.float64 if array.dtype.kind == "f" else np.int64
        digest.update(np.ascontiguousarray(array, dtype=wide).tobytes())
    return cache_folder() / "decisions" / f"{digest.hexdigest()[:24]}.json"
