# SPDX-License-Identifier: Apache-2.0
"""What a source has for a topology, by one read: which series are of which links."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence

from fairlead.errors import Error
from fairlead.measure.metrics import MetricSource, Quantity
from fairlead.watch.oracle.samples import SampleStore

__all__ = ["QuantityCheck", "SourceCheck", "check_sources"]


@dataclasses.dataclass
class QuantityCheck:
    """Series of one quantity and direction.

    Attributes:
        quantity: The quantity.
        is_into: Whether of links into ports.
        ports: Ports of the topology that have it.
        unmatched: Ports that are in no topology, as the source names them.
        num_samples: Samples in all.
    """

    quantity: Quantity
    is_into: bool
    ports: list[str] = dataclasses.field(default_factory=list)
    unmatched: list[str] = dataclasses.field(default_factory=list)
    num_samples: int = 0


@dataclasses.dataclass(frozen=True)
class SourceCheck:
    """What a source has.

    Attributes:
        name: As the user wrote it.
        quantities: By quantity and direction.
        skipped: What it holds and is not understood, or what it should hold and does not.
        without_link: Ports of adapters that are down.
        warnings: What it says of its answer and of the network.
        problem: Why it cannot be read, or None.
    """

    name: str
    quantities: Sequence[QuantityCheck] = ()
    skipped: Sequence[str] = ()
    without_link: Sequence[str] = ()
    warnings: Sequence[str] = ()
    problem: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether anything of it is of a link."""
        return self.problem is None and any(each.ports for each in self.quantities)


def check_sources(
    store: SampleStore, sources: Sequence[MetricSource], window_s: float
) -> Iterator[SourceCheck]:
    """Read each source once; nothing is stored."""
    for source in sources:
        try:
            series = source.read(time.time(), window_s)
        except (Error, OSError) as error:
            yield SourceCheck(source.name, problem=str(error))
            continue
        found: dict[tuple[Quantity, bool], QuantityCheck] = {}
        for one, port in zip(series, store.ports_of(series), strict=True):
            key = one.quantity, one.is_into
            check = found.setdefault(key, QuantityCheck(*key))
            check.num_samples += len(one.times_s)
            names, name = (check.unmatched, one.port) if port is None else (check.ports, port)
            if name and name not in names:
                names.append(name)
        yield SourceCheck(
            source.name,
            list(found.values()),
            list(source.skipped),
            list(source.without_link),
            list(source.warnings),
        )
