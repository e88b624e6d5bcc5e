# SPDX-License-Identifier: Apache-2.0
"""The latest samples of every series, in bounded memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.measure.metrics import Quantity, Series
from fairlead.measure.topologies.interface_port import interface_port, switch_and_interface
from fairlead.watch.oracle.host_names import HostNames

__all__ = ["MOST_SAMPLES", "SampleStore", "Samples", "Unmatched"]

MOST_SAMPLES = 64
"""Most samples of one series: ten minutes at one every ten seconds."""


class Unmatched(NamedTuple):
    """What a source gave that is of no link.

    Attributes:
        num_series: Series of hosts, adapters or hardware of which not one is.
        names: Those hosts and hardware, and adapters of hosts that are known.
    """

    num_series: int
    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one quantity at many links.

    Attributes:
        links: Link of each series, shape (S,).
        ends: Which end of a link counts it, shape (S,): equal for all series of one end.
        devices: Which part of the end, shape (S,): equal for what several sources report of one.
        times_s: Shape (S, MOST_SAMPLES), in the order they came; `nan` for none.
        values: Shape (S, MOST_SAMPLES).
        largest: What each counter holds before it begins again, shape (S,).
    """

    links: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    devices: npt.NDArray[np.int64]
    times_s: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    largest: npt.NDArray[np.float64]


class _Row(NamedTuple):
    """What has samples of its own."""

    source: str
    port: str
    is_into: bool
    device: str


class SampleStore:
    """Samples of the links of a topology. To be used by one thread at a time."""

    def __init__(
        self,
        into: Mapping[str, int],
        out_of: Mapping[str, int],
        *,
        aliases: Mapping[str, str] | None = None,
        hosts: Sequence[str] = (),
    ):
        """An empty store.

        Args:
            into: Link that each port receives.
            out_of: Link that each port sends.
            aliases: Further names of ports.
            hosts: Hosts of the topology, which sources may name otherwise.
        """
        self._links = {True: into, False: out_of}
        self._aliases = aliases or {}
        self._hosts = HostNames(hosts)
        ports = (switch_and_interface(port) for port in {*into, *out_of})
        self._switches = HostNames(sorted({port[0] for port in ports if port is not None}))
        self._row_of: dict[Quantity, dict[_Row, int]] = {}
        self._rows_of_source: dict[tuple[str, Quantity], list[int]] = {}
        self._ends: dict[tuple[str, bool], int] = {}
        self._devices: dict[tuple[int, str], int] = {}
        self._samples: dict[Quantity, Samples] = {}
        self._newest_s = float("nan")

    def newest_s(self) -> float:
        """Time of the newest sample of all; `nan` without any."""
        return self._newest_s

    def add(self, series: list[Series], *, is_whole: bool, source: str = "") -> Unmatched:
        """Take what a source gave.

        Args:
            series: Series of one read.
            is_whole: Whether they hold the whole window, and nothing earlier counts any more.
            source: Who gave it: two that report one port are not mixed.
        """
        if is_whole:
            self._forget(source)
        num_of: dict[tuple[str, str], int] = {}
        matched: set[tuple[str, str]] = set()
        for one, port in zip(series, self.ports_of(series), strict=True):
            if port == "":
                continue  # the same machine under a second name
            part = one.owner, one.adapter
            num_of[part] = num_of.get(part, 0) + 1
            if port is None:
                continue
            matched.add(part)
            if len(one.times_s):
                self._put(one, _Row(source, port, one.is_into, one.device), is_whole)
        return _find_unmatched(num_of, matched)

    def ports_of(self, series: Sequence[Series]) -> list[str | None]:
        """The port of the topology that each series is of; None for no port.

        Empty for a machine that reports a second time under another name.
        """
        host_of = self._hosts.match_hosts(one.host_names for one in series if one.host_names)
        hosts = [host_of.get(one.host_names) for one in series]
        switches = (switch_and_interface(one.port) for one in series)
        switch_of = self._switches.match_hosts((each[0],) for each in switches if each is not None)
        return [
            "" if host == "" else self._port(one, host, switch_of)
            for one, host in zip(series, hosts, strict=True)
        ]

    def _forget(self, source: str) -> None:
        for (of_source, quantity), rows in self._rows_of_source.items():
            if of_source == source:
                self._samples[quantity].times_s[rows] = np.nan

    def _port(
        self, one: Series, host: str | None, switch_of: Mapping[tuple[str, ...], str]
    ) -> str | None:
        """The port of the topology that a series describes; None where there is no such port."""
        for port in (one.port, *one.or_ports):
            named = port
            if host is not None:
                named = f"host {host}{port.removeprefix(f'host {one.host_names[0]}')}"
            named = self._aliases.get(named, named)
            # A switch is called with its domain or without, by LLDP and by SNMP.
            if (at := switch_and_interface(named)) and (switch := switch_of.get((at[0],))):
                named = interface_port(switch, at[1])
            if named in self._links[one.is_into]:
                return named
        return None

    def _put(self, one: Series, key: _Row, is_whole: bool) -> None:
        row, samples = self._row(one.quantity, key)
        times_s, values = samples.times_s[row], samples.values[row]
        new_s, new = one.times_s[-MOST_SAMPLES:], one.values[-MOST_SAMPLES:]
        self._newest_s = float(np.fmax(self._newest_s, np.fmax.reduce(new_s)))
        if is_whole:
            times_s[:] = np.nan
        elif times_s[-1] == new_s[-1] and values[-1] == new[-1]:
            return  # the source was read again before it changed
        kept = MOST_SAMPLES - len(new_s)
        for row_of, newer in ((times_s, new_s), (values, new)):
            row_of[:kept] = row_of[len(newer) :].copy()
            row_of[kept:] = newer
        samples.largest[row] = one.largest

    def of(self, quantity: Quantity) -> Samples | None:
        """All samples of a quantity; None where no source has it."""
        samples = self._samples.get(quantity)
        if samples is None:
            return None
        num_rows = len(self._row_of[quantity])
        return Samples(
            *(getattr(samples, field.name)[:num_rows] for field in dataclasses.fields(samples))
        )

    def _row(self, quantity: Quantity, key: _Row) -> tuple[int, Samples]:
        """Row of a series; twice as many rows where they are full."""
        rows = self._row_of.setdefault(quantity, {})
        samples = self._samples.get(quantity)
        is_new = key not in rows
        row = rows.setdefault(key, len(rows))
        if samples is None or row >= len(samples.links):
            samples = _grown(samples)
            self._samples[quantity] = samples
        if is_new:
            self._rows_of_source.setdefault((key.source, quantity), []).append(row)
            end = self._ends.setdefault((key.port, key.is_into), len(self._ends))
            samples.links[row] = self._links[key.is_into][key.port]
            samples.ends[row] = end
            device = self._devices.setdefault((end, key.device), len(self._devices))
            samples.devices[row] = device
        return row, samples


def _find_unmatched(
    num_of: Mapping[tuple[str, str], int], matched: Collection[tuple[str, str]]
) -> Unmatched:
    """What is of no link, by the series of each owner and adapter: whole hosts, then adapters."""
    known = {owner for owner, _ in matched}
    hosts = dict.fromkeys(owner for owner, _ in num_of if owner not in known)
    lost = [part for part in num_of if part not in matched]
    adapters = [f"{owner} {adapter}" for owner, adapter in lost if adapter and owner in known]
    num_series = sum(
        num_of[owner, adapter] for owner, adapter in lost if adapter or owner not in known
    )
    return Unmatched(num_series, (*hosts, *adapters))


def _grown(samples: Samples | None) -> Samples:
    """Room for twice as many series."""
    old = 0 if samples is None else len(samples.links)
    new = max(16, old)
    empty = Samples(
        np.zeros(new, dtype=np.int64),
        np.zeros(new, dtype=np.int64),
        np.zeros(new, dtype=np.int64),
        np.full((new, MOST_SAMPLES), np.nan),
        np.full((new, MOST_SAMPLES), np.nan),
        np.zeros(new),
    )
    if samples is None:
        return empty
    return Samples(
        *(
            np.concatenate([getattr(samples, field.name), getattr(empty, field.name)])
            for field in dataclasses.fields(samples)
        )
    )
