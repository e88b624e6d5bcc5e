# SPDX-License-Identifier: Apache-2.0
"""The machines a job may use: hosts, and how many ranks each may hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.errors import TopologyError

__all__ = ["Cluster", "GivenHosts", "Login"]


@dataclasses.dataclass(frozen=True)
class Login:
    """How a host is logged in to, where its hostfile says so."""

    user: str | None = None
    port: int | None = None


@dataclasses.dataclass(frozen=True)
class GivenHosts:
    """Hosts in the user's own form, which the launcher reads itself.

    Attributes:
        hostfile: The file; None for the scheduler's allocation, which the launcher finds itself.
        family: Family of the only MPIs that read the file's form; None where all do.
    """

    hostfile: Path | None = None
    family: str | None = None


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Hosts with slots, in the order the user gave them.

    Attributes:
        hosts: Host names, length H, each once.
        slots: Ranks that each host may hold, length H, each at least 1.
        sockets: Sockets of each host, length H.
        source: Name of the cluster in errors: where it was read from.
        bare_hosts: Hosts whose slots were not given, so that they are the launcher's to choose;
            until it is asked, `slots` counts how often each is named.
        logins: `user` or `port` of a host, as its hostfile gives them.
        bindings: `binding` of a host, as a hostfile of Hydra gives it.
        given: How the user named the hosts to the launcher; None where a list is to be written.
        named: Each time that the user named a host, with the slots given then, None for none; empty
            where that is not known. A launcher's own start follows it, whatever slots are used.
    """

    hosts: tuple[str, ...]
    slots: tuple[int, ...]
    sockets: tuple[int, ...] = ()
    source: str = dataclasses.field(default="the cluster", compare=False)
    bare_hosts: frozenset[str] = dataclasses.field(default=frozenset(), compare=False)
    logins: Mapping[str, Login] = dataclasses.field(default_factory=dict, compare=False)
    bindings: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False)
    given: GivenHosts | None = dataclasses.field(default=None, compare=False)
    named: tuple[tuple[str, int | None], ...] = dataclasses.field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(self.hosts))
        object.__setattr__(self, "slots", tuple(int(number) for number in self.slots))
        sockets = tuple(self.sockets) or (1,) * len(self.hosts)
        object.__setattr__(self, "sockets", sockets)
        if not self.hosts:
            raise TopologyError("cluster: at least one host is needed, got none")
        if len(self.slots) != len(self.hosts) or len(self.sockets) != len(self.hosts):
            raise TopologyError(
                f"cluster: {len(self.hosts)} hosts, but {len(self.slots)} slot counts "
                f"and {len(self.sockets)} socket counts"
            )
        seen: set[str] = set()
        for host, slots in zip(self.hosts, self.slots, strict=True):
            if slots < 1:
                raise TopologyError(f"cluster: host {host!r}: slots must be >= 1, got {slots}")
            if host in seen:
                raise TopologyError(f"cluster: host {host!r} is named twice")
            seen.add(host)

    @classmethod
    def uniform(cls, hosts: Sequence[str], slots: int, sockets: int = 1) -> Cluster:
        """A cluster whose hosts are all alike."""
        return cls(tuple(hosts), (slots,) * len(hosts), (sockets,) * len(hosts))

    @property
    def num_hosts(self) -> int:
        """Number of hosts H."""
        return len(self.hosts)

    @property
    def num_slots(self) -> int:
        """Ranks that the whole cluster may hold."""
        return sum(self.slots)

    def select(self, hosts: Sequence[str]) -> Cluster:
        """The same slots and sockets for these hosts, in this order.

        Raises:
            TopologyError: One of them is not in the cluster.
        """
        for host in hosts:
            if host not in self.hosts:
                raise TopologyError(f"cluster: no host {host!r}; there are {', '.join(self.hosts)}")
        indices = [self.hosts.index(host) for host in hosts]
        return Cluster(
            tuple(hosts),
            tuple(self.slots[index] for index in indices),
            tuple(self.sockets[index] for index in indices),
            self.source,
            self.bare_hosts & set(hosts),
            {host: login for host, login in self.logins.items() if host in hosts},
            {host: binding for host, binding in self.bindings.items() if host in hosts},
            self.given if tuple(hosts) == self.hosts else None,
            tuple((host, slots) for host, slots in self.named if host in hosts)
            if list(hosts) == [host for host in self.hosts if host in hosts]
            else (),
        )

    def require_room_for(self, num_ranks: int) -> None:
        """Check that the ranks fit.

        Raises:
            TopologyError: There are fewer slots than ranks, or no rank at all.
        """
        if num_ranks < 1:
            raise TopologyError(f"at least one rank is needed, got {num_ranks}")
        if num_ranks > self.num_slots:
            have = "host has" if self.num_hosts == 1 else "hosts have"
            raise TopologyError(
                f"{num_ranks} ranks do not fit: {self.num_hosts} {have} {self.num_slots} slots "
                f"together; add hosts or slots to {self.source}, or start fewer ranks"
            )
