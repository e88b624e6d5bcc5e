# SPDX-License-Identifier: Apache-2.0
"""Counters of Slingshot's adapters: which say what, and the source that reads them in place."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["COUNTERS", "CxiSource", "adapter_series"]

CYCLE_S = 1e-9
"""Cycle of the adapter's clock. Source: Slingshot, Cassini performance counters; 1 GHz."""

NUM_TRAFFIC_CLASSES = 8


class Counter(NamedTuple):
    """What a counter adds to.

    Attributes:
        is_into: Whether of the link into the host.
        quantity: Quantity of the link.
        factor: To the quantity's unit.
    """

    is_into: bool
    quantity: Quantity
    factor: float = 1.0


COUNTERS: dict[str, Counter] = {
    "hni_sts_rx_ok_octets": Counter(True, Quantity.carried_bytes),
    "hni_sts_tx_ok_octets": Counter(False, Quantity.carried_bytes),
    **{
        f"hni_{way}_paused_{traffic_class}": Counter(way == "rx", Quantity.stalled_s, CYCLE_S)
        for way in ("rx", "tx")
        for traffic_class in range(NUM_TRAFFIC_CLASSES)
    },
    # The bus behind the port: what comes in is written to the host's memory (posted), and what goes
    # out is read from it (not posted). Where it is blocked, packets of that direction wait.
    "parbs_tarb_pi_posted_blocked_cnt": Counter(True, Quantity.stalled_s, CYCLE_S),
    "parbs_tarb_pi_non_posted_blocked_cnt": Counter(False, Quantity.stalled_s, CYCLE_S),
}
"""Counters by name; those of one quantity and direction are added up.

Source: Slingshot, Cassini performance counters: octets; cycles for which a path was paused by
traffic class; cycles for which PCIe was blocked.
"""

_CXI = re.compile(r"cxi\d+", re.A)
_AT = re.compile(r"(\d+)(?:@(\d+(?:\.\d+)?))?\s*", re.A)


def adapter_series(
    host: str, device: str, values: Mapping[str, float], at_s: float, num_adapters: int
) -> Iterator[Series]:
    """Series of one adapter of a host.

    Args:
        host: The host.
        device: The adapter, `cxi0`.
        values: Values by counter; others than COUNTERS are left out.
        at_s: When they were read.
        num_adapters: Adapters of the host, which stall for a part of the host's time each.
    """
    totals: dict[tuple[bool, Quantity], float] = {}
    for name, value in values.items():
        if name not in COUNTERS:
            continue
        is_into, quantity, factor = COUNTERS[name]
        if quantity is Quantity.stalled_s:
            factor /= num_adapters
        totals[is_into, quantity] = totals.get((is_into, quantity), 0.0) + value * factor
    for (is_into, quantity), total in totals.items():
        yield Series(
            *(host_port(host), is_into, quantity, np.array([at_s]), np.array([total])),
            device=device,
            host_names=(host,),
        )


class CxiSource(MetricSource):
    """Slingshot's counters below a path: a file for each, `value@time`."""

    def __init__(self, path: Path, host: str = ""):
        """A folder of one adapter's counters, or of all adapters.

        Args:
            path: /sys/class/cxi for all, or /sys/class/cxi/cxi0/device/telemetry for one.
            host: Name of the host in the topology; empty: what the system says.
        """
        self._path = path
        self._host = host or socket.gethostname().partition(".")[0]
        self.name = f"cxi:{path}"

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """The counters now."""
        folders = sorted(self._path.glob("cxi*/device/telemetry")) or [self._path]
        found = [series for folder in folders for series in self._of_folder(folder, len(folders))]
        if not found:
            raise MetricError(f"{self.name}: holds none of {', '.join(COUNTERS)}")
        return found

    def _of_folder(self, folder: Path, num_adapters: int) -> Iterator[Series]:
        # Two of a host are two ports: /sys/class/cxi/cxi0/device/telemetry, or any other folder.
        device = next((part for part in folder.parts if _CXI.fullmatch(part)), str(folder))
        values, at_s = {}, None
        for name in COUNTERS:
            file = folder / name
            if not file.exists():
                continue
            text = self._text(file)
            match = _AT.fullmatch(text)
            if match is None:
                raise MetricError(f"{file}: expected value@time, got {text[:80]!r}")
            values[name] = float(match[1])
            if match[2]:
                at_s = max(at_s or 0.0, float(match[2]))
        return adapter_series(
            self._host, device, values, time.time() if at_s is None else at_s, num_adapters
        )

    def _text(self, file: Path) -> str:
        try:
            return read_text(file)
        except InputError as error:
            raise MetricError(f"{self.name}: {error}") from error
