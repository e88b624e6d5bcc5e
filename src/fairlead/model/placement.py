# SPDX-License-Identifier: Apache-2.0
"""Which host each rank runs on."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.errors import TopologyError
from fairlead.files.archive import write_text
from fairlead.files.json_files import parse_json, read_json
from fairlead.files.naming import name_source
from fairlead.model.cluster import Cluster

__all__ = ["Placement"]


@dataclasses.dataclass(frozen=True, eq=False)
class Placement:
    """A host for each of T ranks.

    Attributes:
        hosts: Host names, length H.
        host_of_rank: Index into `hosts`, shape (T,), int64.
        method: Name of the method that made it.
        origin: Inputs, options and seed it was made from; JSON-serialisable.
    """

    hosts: Sequence[str]
    host_of_rank: npt.NDArray[np.int64]
    method: str = "given"
    origin: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(self.hosts))
        repeated = [host for host, count in Counter(self.hosts).items() if count > 1]
        if repeated:
            raise TopologyError(f"placement: hosts: {repeated[0]!r} is named twice")
        try:
            ranks = np.ascontiguousarray(self.host_of_rank, dtype=np.int64)
        except OverflowError as error:
            raise TopologyError(
                f"placement: host_of_rank: a number is far above the {len(self.hosts)} hosts"
            ) from error
        if ranks.ndim != 1 or ranks.size == 0:
            raise TopologyError(f"placement: expected one host per rank, got shape {ranks.shape}")
        outside = np.flatnonzero((ranks < 0) | (ranks >= len(self.hosts)))
        if outside.size:
            rank = int(outside[0])
            raise TopologyError(
                f"placement: rank {rank} is on host {int(ranks[rank])}, "
                f"but there are {len(self.hosts)} hosts"
            )
        object.__setattr__(self, "host_of_rank", ranks)

    @property
    def num_ranks(self) -> int:
        """Number of ranks T."""
        return int(self.host_of_rank.size)

    def host_names(self) -> list[str]:
        """Host name of each rank, length T."""
        return [self.hosts[host] for host in self.host_of_rank]

    def ranks_on(self, host: str) -> list[int]:
        """Ranks on this host, ascending."""
        if host not in self.hosts:
            return []
        ranks: list[int] = np.flatnonzero(self.host_of_rank == self.hosts.index(host)).tolist()
        return ranks

    def require_fits(self, cluster: Cluster) -> None:
        """Check the placement against the hosts and slots there are.

        Raises:
            TopologyError: A host is unknown to the cluster, or holds more ranks than slots.
        """
        slots = dict(zip(cluster.hosts, cluster.slots, strict=True))
        for host in sorted(set(self.host_names())):
            ranks = len(self.ranks_on(host))
            if host not in slots:
                raise TopologyError(f"placement: host {host!r} is not in the cluster")
            if ranks > slots[host]:
                raise TopologyError(
                    f"placement: host {host!r} holds {ranks} ranks, but has {slots[host]} slots"
                )

    def to_json(self) -> str:
        """The placement as JSON; `from_json` reads it back."""
        return json.dumps(
            {
                "kind": "placement",
                "version": 1,
                "method": self.method,
                "hosts": list(self.hosts),
                "host_of_rank": self.host_of_rank.tolist(),
                "origin": dict(self.origin),
            },
            indent=2,
        )

    def save(self, path: Path | str) -> None:
        """Write the placement as a JSON file."""
        write_text(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Placement:
        """Read a placement from a JSON file.

        Raises:
            InputError: The file is missing, damaged, or of another kind or version.
        """
        record = read_json(path, _Record)
        with name_source(path):
            return record.to_placement()

    @classmethod
    def from_json(cls, text: str) -> Placement:
        """Read a placement from what `to_json` made.

        Raises:
            InputError: The text is damaged, or of another kind or version; the message names the
                field.
        """
        return parse_json(text, _Record, "placement").to_placement()


class _Record(pydantic.BaseModel, strict=True, extra="forbid"):
    kind: str = pydantic.Field(pattern="^placement$")
    version: int = pydantic.Field(ge=1, le=1)
    method: str
    hosts: list[str]
    host_of_rank: list[int]
    origin: dict[str, Any]

    def to_placement(self) -> Placement:
        return Placement(self.hosts, np.array(self.host_of_rank), self.method, self.origin)
