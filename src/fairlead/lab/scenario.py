# SPDX-License-Identifier: Apache-2.0
"""Descriptions of labs: the fields of the TOML files of `scenarios/` and of users."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from fairlead.files import toml_files
from fairlead.files.package_folders import data_folder
from fairlead.lab.tables import (
    Change,
    HostName,
    Latency,
    PairDelay,
    PairRate,
    PairRates,
    Racks,
    Rate,
    Table,
    Torus,
)
from fairlead.units import parse_rate

__all__ = ["Scenario", "packaged_scenarios"]

MAX_HOSTS = 200
MAX_HOSTS_WITH_CONNECTIONS = 32
"""Each host has classes for the connections to each other one."""
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,40}$"
"""Form of the name of a scenario and of a lab, which has a folder of that name."""
_PACKAGED = data_folder("lab/scenarios")


class Scenario(Table):
    """An emulated cloud: hosts, the network between them, and its changes over time."""

    name: str = Field(pattern=NAME_PATTERN)
    hosts: int = Field(ge=2, le=MAX_HOSTS)
    slots: int = Field(default=4, ge=1, le=1024)
    """Slots of each host in the hostfile."""
    nic: Rate | list[Rate]
    """One rate for all hosts, or one per host; the same in both directions."""
    connection: Rate | None = None
    """The most that one TCP connection carries, as in clouds; None: no such limit."""
    order_seed: int = Field(default=0, ge=0)
    """Shuffles the hosts over the racks, so that their names do not show the rack."""
    racks: Racks | None = None
    torus: Torus | None = None
    """Instead of racks."""
    pairs: PairRates | None = None
    latency: Latency | None = None
    speed: dict[HostName, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    """Speeds of hosts, as parts of that of the others; with any, each host has its own share of
    this machine's processors, by a cgroup's quota."""
    changes: list[Change] = Field(default_factory=list)
    background: list[PairRate] = Field(default_factory=list)
    """Traffic of others: TCP streams of these rates that last as long as the lab."""

    @model_validator(mode="after")
    def _fits(self) -> Scenario:
        if isinstance(self.nic, list) and len(self.nic) != self.hosts:
            raise ValueError(f"nic: {len(self.nic)} rates for {self.hosts} hosts")
        if self.racks is not None and self.racks.count > self.hosts:
            raise ValueError(f"racks.count: {self.racks.count} racks for {self.hosts} hosts")
        if self.connection is not None:
            others = {"pairs": self.pairs, "latency": self.latency, "torus": self.torus}
            if wrong := [name for name, table in others.items() if table is not None]:
                raise ValueError(f"connection: does not go together with {', '.join(wrong)}")
            if self.hosts > MAX_HOSTS_WITH_CONNECTIONS:
                raise ValueError(
                    f"connection: at most {MAX_HOSTS_WITH_CONNECTIONS} hosts, got {self.hosts}"
                )
        for host in self.speed:
            if host not in self.host_names:
                raise ValueError(f"speed: unknown host {host!r}; there are h0 to h{self.hosts - 1}")
        self._check_torus()
        self._check_latency()
        fields: list[tuple[str, Sequence[PairRate | PairDelay]]] = [
            ("pairs.given", self.pairs.given if self.pairs else []),
            ("background", self.background),
        ]
        if self.latency is not None and self.latency.pairs is not None:
            fields.append(("latency.pairs.given", self.latency.pairs.given))
        for field, rows in fields:
            for index, row in enumerate(rows):
                self._check_pair(f"{field}[{index}]", row.src, row.dst)
        for index, change in enumerate(self.changes):
            self._check_pair(f"changes[{index}]", change.src, change.dst)
            if change.seed is not None and (self.pairs is None or self.pairs.median is None):
                raise ValueError(f"changes[{index}].seed: there is no pairs.median to draw from")
        return self

    def _check_torus(self) -> None:
        if self.torus is None:
            return
        if self.racks is not None or self.latency is not None:
            raise ValueError("torus: has neither racks nor latencies of its own")
        if self.hosts % self.torus.num_routers:
            raise ValueError(
                f"torus: {self.hosts} hosts cannot be shared out evenly on "
                f"{self.torus.num_routers} routers"
            )

    def _check_latency(self) -> None:
        if self.latency is None:
            return
        nic, uplink = self.latency.nic, self.latency.uplink
        if isinstance(nic, list) and len(nic) != self.hosts:
            raise ValueError(f"latency.nic: {len(nic)} delays for {self.hosts} hosts")
        if self.racks is None and uplink != 0:
            raise ValueError("latency.uplink: there are no racks")
        if self.racks is not None and isinstance(uplink, list) and len(uplink) != self.racks.count:
            raise ValueError(f"latency.uplink: {len(uplink)} delays for {self.racks.count} racks")

    def _check_pair(self, field: str, src: str | None, dst: str | None) -> None:
        for end, host in (("src", src), ("dst", dst)):
            if host is not None and host not in self.host_names:
                raise ValueError(
                    f"{field}.{end}: unknown host {host!r}; there are h0 to h{self.hosts - 1}"
                )
        if src is not None and src == dst:
            raise ValueError(f"{field}: src and dst are both {src!r}")

    @property
    def host_names(self) -> tuple[str, ...]:
        """Names of the hosts in the order that the user sees."""
        return tuple(f"h{index}" for index in range(self.hosts))

    @property
    def nic_Bps(self) -> list[float]:
        """Rate of each host's network interface, length H."""
        return self.nic if isinstance(self.nic, list) else [self.nic] * self.hosts

    def slower(self, divisor: float) -> Scenario:
        """The same with all rates divided by a number > 0, those of changes and of others too.

        The hosts of a lab share the processors of one machine. With slower rates the network is as
        slow compared with them as it is where each host has processors of its own.
        """
        return Scenario.model_validate(_divide(self.model_dump(), divisor))

    @classmethod
    def load(cls, source: str | Path, hosts: int | None = None) -> Scenario:
        """Read a scenario that comes with Fairlead (by name) or a TOML file (by path).

        Args:
            source: "two-racks", or the path of a TOML file.
            hosts: Number of hosts, instead of the file's.

        Raises:
            InputError: There is no such scenario, or a field of it is wrong; the message names
                file and field.
        """
        path = toml_files.find(source, _PACKAGED, "scenario")
        return toml_files.read_toml(
            path,
            cls,
            defaults={"name": path.stem},
            instead=None if hosts is None else {"hosts": hosts},
        )


def _divide(fields: Any, divisor: float) -> Any:
    """Written fields; only rates end with their unit, since no name has a slash."""
    if isinstance(fields, dict):
        return {name: _divide(value, divisor) for name, value in fields.items()}
    if isinstance(fields, list):
        return [_divide(value, divisor) for value in fields]
    if isinstance(fields, str) and fields.endswith("B/s"):
        return f"{parse_rate(fields) / divisor!r}B/s"
    return fields


def packaged_scenarios() -> list[str]:
    """Names of the scenarios that come with Fairlead."""
    return toml_files.names(_PACKAGED)
