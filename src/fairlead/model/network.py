# SPDX-License-Identifier: Apache-2.0
"""The measured network: latency and bandwidth from every host to every other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError, TopologyError
from fairlead.model.bottleneck_group import BottleneckGroup, table_of_groups
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.host_inside import HostInside, inside_arrays
from fairlead.model.host_rates import HostRates
from fairlead.model.network_file import load_network, save_network

__all__ = ["Network"]

Matrix = npt.NDArray[np.float64]

_CONSTANT = ("latency_s", "bandwidth_Bps")
_PER_HOST = ("nic_out_Bps", "nic_in_Bps")
_INTERVALS = (("latency_low_s", "latency_high_s"), ("bandwidth_low_Bps", "bandwidth_high_Bps"))
_PER_PAIR = tuple(name for interval in _INTERVALS for name in interval)
_MOST_SAMPLES = 2**53
"""Up to this value a float64 represents every whole number."""


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """Directed latency and bandwidth between H hosts.

    Attributes:
        hosts: Host names, length H, in the order of the matrices.
        latency_s: One-way latency, shape (H, H), [src, dst]; `nan` where unmeasured; diagonal 0
            unless communication inside a host was measured.
        bandwidth_Bps: Bytes per second, shape (H, H), [src, dst]; `nan` where unmeasured;
            diagonal `inf` unless measured.
        latency_low_s, latency_high_s: Confidence interval of each latency, or None.
        bandwidth_low_Bps, bandwidth_high_Bps: Confidence interval of each bandwidth, or None.
        samples: Measurements behind each pair, shape (H, H), or None; 0 where it was estimated.
        nic_out_Bps, nic_in_Bps: What each host can send or receive in all, shape (H,); `nan`
            where unmeasured, or None.
        host_rates: How fast each host computes, or None.
        coordinates: Where each host is in the network's own space, shape (H, D), or None.
        groups: Directed pairs that share a bottleneck, with its capacity; none unless measured.
        flows: Outcome of the search for groups, which finds interfaces, too; None where there was
            none.
        unreachable: Hosts that did not answer when it was measured, with the reason of each. A
            selection keeps those that it leaves out, too.
        launch_s: Time that starting the measuring program took; None where unknown.
        insides: The inside of each host, by its name; none where it was not looked at.
        origin: Where the numbers come from, when and how: a JSON-serialisable dictionary. It is
            shown, and decides nothing.
        source: Name of the network in errors: the file it was read from.
    """

    hosts: Sequence[str]
    latency_s: Matrix
    bandwidth_Bps: Matrix
    latency_low_s: Matrix | None = None
    latency_high_s: Matrix | None = None
    bandwidth_low_Bps: Matrix | None = None
    bandwidth_high_Bps: Matrix | None = None
    samples: npt.NDArray[np.int64] | None = None
    nic_out_Bps: npt.NDArray[np.float64] | None = None
    nic_in_Bps: npt.NDArray[np.float64] | None = None
    host_rates: HostRates | None = None
    coordinates: npt.NDArray[np.float64] | None = None
    groups: Sequence[BottleneckGroup] = ()
    flows: FlowsSummary | None = None
    unreachable: Mapping[str, str] = dataclasses.field(default_factory=dict)
    launch_s: float | None = None
    insides: Mapping[str, HostInside] = dataclasses.field(default_factory=dict)
    origin: dict[str, Any] = dataclasses.field(default_factory=lambda: {"how": "given"})
    source: str = "this network"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(self.hosts))
        num_hosts = len(self.hosts)
        if num_hosts == 0:
            raise TopologyError("network: at least one host is needed, got none")
        if len(set(self.hosts)) != num_hosts:
            raise TopologyError(f"network: a host is named twice: {_first_duplicate(self.hosts)}")
        for name in (*_CONSTANT, *_PER_PAIR):
            self._check_shape(name, np.float64, (num_hosts, num_hosts))
        for name in _PER_HOST:
            self._check_shape(name, np.float64, (num_hosts,))
        self._check_shape("samples", np.int64, (num_hosts, num_hosts))
        self._check_coordinates()
        self._check_host_rates()
        self._check_values()
        object.__setattr__(self, "unreachable", dict(self.unreachable))
        object.__setattr__(self, "groups", tuple(self.groups))
        for group in self.groups:
            if group.pairs.max() >= num_hosts:
                raise ShapeError(
                    f"network: groups: a pair names host {group.pairs.max()}, "
                    f"but there are {num_hosts}"
                )

    def _check_shape(self, name: str, kind: type, shape: tuple[int, ...]) -> None:
        value = getattr(self, name)
        if value is None:
            return
        if kind is np.int64:
            self._check_whole(name, np.asarray(value))
        array: npt.NDArray[Any] = np.ascontiguousarray(value, dtype=kind)
        if array.shape != shape:
            raise ShapeError(
                f"network: {name}: expected shape {shape} for {shape[0]} hosts, got {array.shape}"
            )
        object.__setattr__(self, name, array)

    def _check_coordinates(self) -> None:
        if self.coordinates is None:
            return
        dimensions = np.shape(self.coordinates)[1] if np.ndim(self.coordinates) == 2 else 1
        self._check_shape("coordinates", np.float64, (self.num_hosts, dimensions))
        if not np.all(np.isfinite(self.coordinates)):
            raise InputError("network: coordinates: every value must be finite")

    def _check_host_rates(self) -> None:
        if self.host_rates is not None and len(self.host_rates.values) != self.num_hosts:
            raise ShapeError(
                f"network: host_rates: expected {self.num_hosts} hosts, "
                f"got {len(self.host_rates.values)}"
            )

    def _check_whole(self, name: str, values: npt.NDArray[Any]) -> None:
        with np.errstate(invalid="ignore"):
            is_count = (values >= 0) & (values <= _MOST_SAMPLES) & (values % 1 == 0)
        if not np.all(is_count):
            raise InputError(
                f"network: {name}: every value must be a whole number in 0..{_MOST_SAMPLES}"
            )

    def _check_values(self) -> None:
        if np.any(self.latency_s < 0) or np.any(np.isinf(self.latency_s)):
            raise InputError("network: latency_s: every value must be finite and >= 0, or nan")
        if np.any(self.bandwidth_Bps <= 0):
            raise InputError("network: bandwidth_Bps: every value must be > 0, or nan")
        for name in _PER_HOST:
            if getattr(self, name) is not None and np.any(getattr(self, name) <= 0):
                raise InputError(f"network: {name}: every value must be > 0, or nan")
        for low, high in _INTERVALS:
            self._check_interval(low, high)
        if self.launch_s is not None and not 0 <= self.launch_s < np.inf:
            raise InputError(f"network: launch_s: must be finite and >= 0, got {self.launch_s}")

    def _check_interval(self, low: str, high: str) -> None:
        bounds = [getattr(self, name) for name in (low, high)]
        for name, values in zip((low, high), bounds, strict=True):
            if values is not None and np.any(values < 0):
                raise InputError(f"network: {name}: every value must be >= 0, or nan")
        if bounds[0] is not None and bounds[1] is not None and np.any(bounds[0] > bounds[1]):
            raise InputError(f"network: {low}: a value is above that of {high}")

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    def index(self, host: str) -> int:
        """Position of `host` in the matrices.

        Raises:
            TopologyError: The host was not measured.
        """
        try:
            return tuple(self.hosts).index(host)
        except ValueError:
            raise TopologyError(
                f"host {host!r} is not in {self.source}, which has {', '.join(self.hosts)}"
            ) from None

    def select(self, hosts: Sequence[str]) -> Network:
        """The same measurements for these hosts, in this order; itself where nothing changes.

        Raises:
            TopologyError: One of them was not measured.
        """
        if tuple(hosts) == self.hosts:
            return self
        rows = np.array([self.index(host) for host in hosts])
        grid = np.ix_(rows, rows)

        def pick(name: str) -> Any:
            matrix = getattr(self, name)
            return None if matrix is None else matrix[grid]

        def pick_hosts(name: str) -> Any:
            values = getattr(self, name)
            return None if values is None else values[rows]

        kept = (group.select(rows) for group in self.groups)
        return dataclasses.replace(
            self,
            hosts=tuple(hosts),
            origin=dict(self.origin),
            host_rates=None if self.host_rates is None else self.host_rates.select(rows),
            insides={host: self.insides[host] for host in hosts if host in self.insides},
            groups=[group for group in kept if group is not None],
            **{name: pick(name) for name in (*_CONSTANT, *_PER_PAIR, "samples")},
            **{name: pick_hosts(name) for name in (*_PER_HOST, "coordinates")},
        )

    def with_measurements(self, later: Network) -> Network:
        """This network with later measurements in place of the older values.

        Args:
            later: Network of the same hosts in the same order, with intervals and samples; `nan`
                where nothing was measured.

        Raises:
            TopologyError: The hosts differ.
        """
        if later.hosts != self.hosts:
            raise TopologyError("network: a later measurement is of other hosts")
        is_later = np.isfinite(later.latency_s) & np.isfinite(later.bandwidth_Bps)

        def chosen(name: str) -> Any:
            before, after = getattr(self, name), getattr(later, name)
            return before if before is None or after is None else np.where(is_later, after, before)

        matrices: dict[str, Any] = {
            name: chosen(name) for name in (*_CONSTANT, *_PER_PAIR, "samples")
        }
        return dataclasses.replace(self, **matrices)

    def unmeasured_pairs(self) -> list[tuple[str, str]]:
        """Directed pairs without a latency or without a bandwidth."""
        missing = np.isnan(self.latency_s) | np.isnan(self.bandwidth_Bps)
        return [(self.hosts[src], self.hosts[dst]) for src, dst in np.argwhere(missing)]

    def require_measured(self, remedy: str) -> None:
        """Check that every pair has a latency and a bandwidth.

        Args:
            remedy: What to do about a pair that has not.

        Raises:
            TopologyError: One was not measured; the message ends with the remedy.
        """
        gaps = self.unmeasured_pairs()
        if gaps:
            (src, dst), more = gaps[0], len(gaps) - 1
            others = f", nor {more} more pairs" if more else ""
            raise TopologyError(f"network: {src} -> {dst} was not measured{others}: {remedy}")

    def is_estimated(self) -> npt.NDArray[np.bool_]:
        """Pairs that have a value and no measurement, shape (H, H); all False without `samples`."""
        if self.samples is None:
            return np.zeros(self.latency_s.shape, dtype=bool)
        has_value = np.isfinite(self.latency_s) | np.isfinite(self.bandwidth_Bps)
        return np.asarray(has_value & (self.samples == 0) & ~np.eye(self.num_hosts, dtype=bool))

    def transfer_s(self, message_bytes: float) -> Matrix:
        """Time of one message per pair: latency_s + message_bytes / bandwidth_Bps.

        Args:
            message_bytes: Size of the message in bytes.

        Returns:
            Seconds per pair, shape (H, H); `nan` where unmeasured.

        Source: CMPI section 4.1.
        """
        return np.asarray(self.latency_s + message_bytes / self.bandwidth_Bps)

    def pair_costs(self, metric: str) -> Matrix:
        """The cost factors of the objective `sum`: seconds per byte, or per message.

        Args:
            metric: "bytes" for 1 / bandwidth_Bps, "messages" for latency_s.

        Returns:
            Shape (H, H), [src, dst].

        Raises:
            TopologyError: A pair was not measured.
        """
        cost_s = 1.0 / self.bandwidth_Bps if metric == "bytes" else self.latency_s
        unmeasured = np.argwhere(np.isnan(cost_s))
        if unmeasured.size:
            src, dst = (self.hosts[host] for host in unmeasured[0])
            raise TopologyError(
                f"{'bandwidth' if metric == 'bytes' else 'latency'} from {src!r} to {dst!r} "
                "was not measured; probe again, or leave one of the two hosts out"
            )
        return cost_s

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Its numbers by their names in the file, the table of its groups among them."""
        names = (*_CONSTANT, *_PER_PAIR, *_PER_HOST, "samples", "coordinates")
        arrays = {name: getattr(self, name) for name in names}
        present = {name: array for name, array in arrays.items() if array is not None}
        if self.host_rates is not None:
            present["host_rates"] = self.host_rates.values
            present["host_cores"] = self.host_rates.num_cores
        return present | table_of_groups(self.groups)

    def save(self, path: Path | str) -> None:
        """Write a `.net.npz` file; a reader never sees part of it."""
        facts = ("hosts", "unreachable", "flows", "launch_s", "insides", "origin")
        arrays = self.arrays() | inside_arrays(self.insides)
        save_network(path, arrays, {name: getattr(self, name) for name in facts})

    @classmethod
    def load(cls, path: Path | str) -> Network:
        """Read a `.net.npz` file.

        Raises:
            InputError: The file is missing, damaged, of another kind or version, or holds an
                impossible value; the message names file and field.
        """
        try:
            return cls(**load_network(path, _CONSTANT, (*_PER_PAIR, "samples"), _PER_HOST))
        except InputError as error:
            if str(error).startswith(str(path)):
                raise
            raise InputError(f"{path}: {error}") from error


def _first_duplicate(names: Sequence[str]) -> str:
    return ", ".join(sorted({name for name in names if list(names).count(name) > 1}))
