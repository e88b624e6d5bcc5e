# SPDX-License-Identifier: Apache-2.0
"""The counters of the host this runs on, read in place: interfaces, and ENA allowances."""

from __future__ import annotations

import dataclasses
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError
from fairlead.files.whole_file import read_text
from fairlead.measure.metrics.physical_ports import is_chosen, physical_ports
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series
from fairlead.measure.metrics.sysfs_devices import adapter_ports, device_of_sysfs
from fairlead.measure.topologies.infiniband_hosts import adapter_names
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["HostSource", "parse_ethtool", "parse_net_dev"]

NET_DEV, SYSFS = Path("/proc/net/dev"), Path("/sys/class/net")

ETHTOOL_S = 5.0
"""Longest that `ethtool -S` may take."""

ALLOWANCES = {"bw_in_allowance_exceeded": True, "bw_out_allowance_exceeded": False}
"""Packets that AWS held back or dropped, and whether they were coming in.

Source: ENA driver, statistics of the elastic network interface.
"""

_LINE = re.compile(r"\s*([^\s:]+):\s*((?:\d+\s*){16})", re.A)
_STATISTIC = re.compile(r"\s*([\w.\[\]-]+):\s*(\d+)\s*", re.A)

RX_BYTES, RX_PACKETS, TX_BYTES, TX_PACKETS = 0, 1, 8, 9
"""Columns of /proc/net/dev. Source: proc_net(5)."""


def parse_net_dev(text: str, name: str = "/proc/net/dev") -> dict[str, list[int]]:
    """The sixteen counters of each interface.

    Raises:
        MetricError: It is something else.
    """
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "|" in line or not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise MetricError(f"{name}:{number}: expected an interface and 16 counters: {line!r}")
        found[match[1]] = [int(word) for word in match[2].split()]
    if not found:
        raise MetricError(f"{name}: names no interface")
    return found


def parse_ethtool(text: str) -> dict[str, int]:
    """The statistics that `ethtool -S` prints."""
    found = (_STATISTIC.fullmatch(line) for line in text.splitlines())
    return {match[1]: int(match[2]) for match in found if match is not None}


class HostSource(MetricSource):
    """/proc/net/dev, and `ethtool -S` where it is installed: the physical ports of this host."""

    def __init__(
        self,
        host: str = "",
        net_dev: Path | None = None,
        sysfs: Path | None = None,
        devices: Sequence[str] = (),
    ):
        """This host.

        Args:
            host: Its name in the topology; empty: what the system says, without its domain.
            net_dev: Where the kernel counts; None: /proc/net/dev.
            sysfs: Where the kernel says what devices are; None: where it is, for its own counters.
            devices: Patterns of the devices that are counted; none: the physical ports.
        """
        self._host = host or socket.gethostname().partition(".")[0]
        self._net_dev = NET_DEV if net_dev is None else net_dev
        self._sysfs = SYSFS if net_dev is None and sysfs is None else sysfs
        self._infiniband = None if self._sysfs is None else self._sysfs.parent / "infiniband"
        self._devices = tuple(devices)
        self.name = f"host:{self._host}"

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """The counters now."""
        try:
            text = read_text(self._net_dev)
        except InputError as error:
            raise MetricError(f"{self.name}: {error}") from error
        at_s = time.time()
        found = self._of_adapters(at_s)
        # Messages take the adapters of InfiniBand; Ethernet has no counters of their cables.
        if (found or self.skipped) and not self._devices:
            return found
        counters = parse_net_dev(text, str(self._net_dev))
        known = [device_of_sysfs(self._sysfs, name) for name in counters]
        for device in sorted(physical_ports(known, self._devices)):
            values, statistics = counters[device], self._ethtool(device)
            value_of_counter = {
                (True, Quantity.carried_bytes): values[RX_BYTES],
                (True, Quantity.packets): values[RX_PACKETS],
                (False, Quantity.carried_bytes): values[TX_BYTES],
                (False, Quantity.packets): values[TX_PACKETS],
                **{
                    (is_into, Quantity.shaped_packets): statistics[name]
                    for name, is_into in ALLOWANCES.items()
                    if name in statistics
                },
            }
            for (is_into, quantity), value in value_of_counter.items():
                value_now = np.array([float(value)])
                found.append(_now(self._host, device, (is_into, quantity), at_s, value_now))
        return found

    def _of_adapters(self, at_s: float) -> list[Series]:
        """Ports of InfiniBand, as parts of the host's interface and by names of their own."""
        ports = [] if self._infiniband is None else adapter_ports(self._infiniband)
        num_adapters = len({port.name.partition(":")[0] for port in ports if port.is_up})
        found = []
        self.without_link = [f"{self._host} {port.name}" for port in ports if not port.is_up]
        self.skipped = [
            f"{self.name}: the kernel does not count what {port.name} carries"
            for port in ports
            if port.is_up and port.moved_bytes is None
        ]
        for port in ports:
            if not port.is_up or port.moved_bytes is None:
                continue
            if self._devices and not is_chosen(port.name.partition(":")[0], self._devices):
                continue
            names = adapter_names(self._host, port.name, num_adapters)
            for is_into, value in zip((True, False), port.moved_bytes, strict=True):
                what = (is_into, Quantity.carried_bytes)
                value_now = np.array([float(value)])
                series = dataclasses.replace(
                    _now(self._host, port.name, what, at_s, value_now), adapter=port.name
                )
                found.append(series)
                found.append(
                    dataclasses.replace(series, port=names[0], or_ports=names[1:], device="")
                )
        return found

    @staticmethod
    def _ethtool(device: str) -> dict[str, int]:
        """Statistics of a device; none where there is no ethtool, or the device has none."""
        program = shutil.which("ethtool")
        if program is None:
            return {}
        try:
            done = subprocess.run(
                [program, "-S", device],
                capture_output=True, text=True, timeout=ETHTOOL_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return {}
        return parse_ethtool(done.stdout)


def _now(
    host: str,
    device: str,
    what: tuple[bool, Quantity],
    at_s: float,
    value: npt.NDArray[np.float64],
) -> Series:
    """One sample of a device of a host; `what` is whether it comes in, and the quantity."""
    return Series(
        host_port(host), *what, np.array([at_s]), value, device=device, host_names=(host,)
    )
