# SPDX-License-Identifier: Apache-2.0
"""Real hosts shared by several jobs: which cores are taken, and placements on the others."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement
from fairlead.simulation.jobs_placement import JobsPlacement
from fairlead.simulation.machine import Machine
from fairlead.simulation.workload_file import MachineTable, read_machine_file

__all__ = ["SharedHosts", "parse_taken"]


@dataclasses.dataclass(frozen=True)
class SharedHosts:
    """A cluster with some slots taken by others, and the machine that models it.

    Methods and the simulator support only equal nodes. Each host is a node with as many cores as
    the largest host has slots; the cores that a smaller host lacks count as taken.

    Attributes:
        cluster: Hosts with all their slots.
        taken: Slots of a host that are not free, by their number from 0; hosts without any are left
            out.
        machine: Node i is host i; slot s of a host is core s of its node.
    """

    cluster: Cluster
    taken: Mapping[str, tuple[int, ...]]
    machine: Machine

    @classmethod
    def of(
        cls,
        cluster: Cluster,
        taken: Mapping[str, Sequence[int]] | None = None,
        machine_file: Path | str | None = None,
    ) -> SharedHosts:
        """The hosts, as `machine_file` describes their nodes.

        Args:
            cluster: Hosts with all their slots.
            taken: Slots of a host that are not free, by their number from 0.
            machine_file: A TOML file with a table `[machine]` as in a workload; the number of
                nodes is that of the hosts, and sockets and cores are the slots where it says
                nothing about them.

        Raises:
            TopologyError: A host or slot of `taken` is not in the cluster, or the file's nodes
                are not these hosts.
            InputError: The file cannot be read, or names taken cores.
        """
        slots = dict(zip(cluster.hosts, cluster.slots, strict=True))
        checked: dict[str, tuple[int, ...]] = {}
        for host, numbers in (taken or {}).items():
            if host not in slots:
                raise TopologyError(
                    f"taken: no host {host!r}; there are {', '.join(cluster.hosts)}"
                )
            outside = [number for number in numbers if not 0 <= number < slots[host]]
            if outside:
                raise TopologyError(
                    f"taken: host {host!r} has the slots 0 to {slots[host] - 1}, got {outside[0]}"
                )
            checked[host] = tuple(sorted(set(numbers)))
        return cls(cluster, checked, _machine(cluster, checked, machine_file))

    @property
    def free(self) -> Cluster:
        """The hosts that have a free slot, with their free slots only.

        Raises:
            TopologyError: There is none.
        """
        num_free = {
            host: slots - len(self.taken.get(host, ()))
            for host, slots in zip(self.cluster.hosts, self.cluster.slots, strict=True)
        }
        left = [host for host in self.cluster.hosts if num_free[host] > 0]
        if not left:
            raise TopologyError("taken: no host has a free slot")
        return Cluster(tuple(left), tuple(num_free[host] for host in left))

    def require_room_for(self, num_ranks: int) -> None:
        """Check that the ranks of all jobs fit.

        Raises:
            TopologyError: There are fewer free slots than ranks.
        """
        num_free = len(self.machine.free_cores())
        if num_ranks > num_free:
            raise TopologyError(
                f"{num_ranks} ranks do not fit: {self.cluster.num_hosts} hosts have {num_free} "
                f"free slots of {self.cluster.num_slots}"
            )

    def placements(self, cores: JobsPlacement) -> list[Placement]:
        """Host of each rank, for each job."""
        return [
            Placement(self.cluster.hosts, cores.node_of_rank(job), cores.method)
            for job in range(len(cores.core_of_rank))
        ]

    def socket_and_core(self, cores: JobsPlacement, job: int) -> list[tuple[int, int]]:
        """Socket of its host and core of that socket, of each rank of a job."""
        inside = cores.core_of_rank[job] % self.machine.cores_per_node
        return [divmod(int(core), self.machine.cores) for core in inside]


def parse_taken(texts: Sequence[str]) -> dict[str, list[int]]:
    """Taken slots of each host from `HOST:N`, its first N slots, or `HOST=0,4-7`, these.

    Raises:
        InputError: One of them is something else, or names a host again.
    """
    taken: dict[str, list[int]] = {}
    for text in texts:
        counted, listed = _COUNTED.fullmatch(text), _LISTED.fullmatch(text)
        if counted:
            host, numbers = counted["host"], list(range(int(counted["number"])))
        elif listed:
            host, numbers = listed["host"], _numbers(listed["numbers"])
        else:
            raise InputError(f"--taken: expected HOST:N or HOST=0,4-7, got {text!r}")
        if host in taken:
            raise InputError(f"--taken: host {host!r} is named twice")
        taken[host] = numbers
    return taken


_RANGE = r"\d{1,6}(?:-\d{1,6})?"
# A host may be an IPv6 address, so the last colon counts.
_COUNTED = re.compile(r"(?P<host>[^=]+):(?P<number>\d{1,6})", re.ASCII)
_LISTED = re.compile(rf"(?P<host>[^=]+)=(?P<numbers>{_RANGE}(?:,{_RANGE})*)", re.ASCII)


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _machine(
    cluster: Cluster, taken: Mapping[str, tuple[int, ...]], machine_file: Path | str | None
) -> Machine:
    table = MachineTable() if machine_file is None else read_machine_file(Path(machine_file))
    most_slots = max(cluster.slots)
    given_fields = table.model_fields_set
    if "nodes" in given_fields and table.nodes != cluster.num_hosts:
        raise TopologyError(
            f"{machine_file}: machine.nodes: {table.nodes}, but there are {cluster.num_hosts} hosts"
        )
    if "taken" in given_fields:
        raise InputError(f"{machine_file}: machine.taken: taken slots are given by host here")
    sockets = table.sockets if "sockets" in given_fields else max(cluster.sockets)
    cores = table.cores if "cores" in given_fields else -(-most_slots // sockets)
    if sockets * cores < most_slots:
        raise TopologyError(
            f"{machine_file}: machine: {sockets} sockets of {cores} cores are fewer than the "
            f"{most_slots} slots of a host"
        )
    not_free = [
        node * sockets * cores + core
        for node, (host, slots) in enumerate(zip(cluster.hosts, cluster.slots, strict=True))
        for core in (*taken.get(host, ()), *range(slots, sockets * cores))
    ]
    return dataclasses.replace(
        table.build(),
        nodes=cluster.num_hosts,
        sockets=sockets,
        cores=cores,
        taken=tuple(not_free),
    )
