# SPDX-License-Identifier: Apache-2.0
"""Reads the measuring program's results of simultaneous flows and adds them to the network."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead.errors import ProbeError
from fairlead.measure.probe_result import Count, Rank, Rate, Seconds, or_nan, read_document
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.network import Network

CONTENTION_FORMAT = "fairlead-contention"
"""Format of the document of flows run together."""


class GroupOfRanks(pydantic.BaseModel, extra="forbid"):
    """Every source sends to every destination through one bottleneck; both are ranks."""

    sources: list[Rank] = pydantic.Field(min_length=1)
    destinations: list[Rank] = pydantic.Field(min_length=1)
    capacity_Bps: Rate
    capacity_low_Bps: Rate | None
    capacity_high_Bps: Rate | None
    confidence_ratio: float = pydantic.Field(ge=0, le=1)

    def to_bottleneck_group(self, index: Sequence[int]) -> BottleneckGroup:
        """The same group between hosts.

        Args:
            index: Position of each rank's host in the network.
        """
        pairs = [(index[src], index[dst]) for src in self.sources for dst in self.destinations]
        return BottleneckGroup(
            pairs=np.array(pairs, dtype=np.int64),
            capacity_Bps=self.capacity_Bps,
            capacity_low_Bps=or_nan(self.capacity_low_Bps),
            capacity_high_Bps=or_nan(self.capacity_high_Bps),
            confidence_ratio=self.confidence_ratio,
        )


class ContentionResult(pydantic.BaseModel, extra="forbid"):
    """The second document that rank 0 prints."""

    format: Literal["fairlead-contention"]
    version: Literal[1]
    num_steps: Count
    is_complete: bool
    probing_s: Seconds
    nic_out_Bps: list[Rate | None]
    nic_in_Bps: list[Rate | None]
    groups: list[GroupOfRanks]

    def add_to(self, network: Network, measured_hosts: Sequence[str]) -> Network:
        """The network with interfaces and groups, and whether all was tried.

        Args:
            network: The network of all hosts, with its pairs.
            measured_hosts: Host of each rank.
        """
        index = [network.index(host) for host in measured_hosts]

        def per_host(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
            array = np.full(network.num_hosts, np.nan)
            array[index] = [or_nan(value) for value in values]
            return array

        found = {"num_steps": self.num_steps, "probing_s": self.probing_s}
        return dataclasses.replace(
            network,
            nic_out_Bps=per_host(self.nic_out_Bps),
            nic_in_Bps=per_host(self.nic_in_Bps),
            groups=[group.to_bottleneck_group(index) for group in self.groups],
            flows=FlowsSummary(self.is_complete),
            origin=network.origin | {"contention": found},
        )


def read_contention(printed: str, num_ranks: int) -> ContentionResult | None:
    """Find and check the document in what the launcher printed.

    Args:
        printed: Standard output of the launcher, which may add lines of its own.
        num_ranks: Number of ranks that were started.

    Returns:
        The result, or None when there is no document or only the beginning of one.

    Raises:
        ProbeError: The document is complete, but not in the program's form.
    """
    result = read_document(printed, CONTENTION_FORMAT, ContentionResult, "contention probe")
    if result is None:
        return None
    _check_ranks(result, num_ranks)
    return result


def _check_ranks(result: ContentionResult, num_ranks: int) -> None:
    named: dict[str, Any] = {"nic_out_Bps": result.nic_out_Bps, "nic_in_Bps": result.nic_in_Bps}
    for name, values in named.items():
        if len(values) != num_ranks:
            raise ProbeError(
                f"result of the contention probe: {name}: expected {num_ranks}, got {len(values)}"
            )
    for group in result.groups:
        ranks = [*group.sources, *group.destinations]
        if max(ranks) >= num_ranks or len(set(ranks)) < len(ranks):
            raise ProbeError(
                f"result of the contention probe: groups: {group.sources} to "
                f"{group.destinations} are no two sides of {num_ranks} ranks"
            )
