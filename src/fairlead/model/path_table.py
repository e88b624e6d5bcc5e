# SPDX-License-Identifier: Apache-2.0
"""The paths from each host to each other one: direct, and by way of third hosts."""

from __future__ import annotations

import dataclasses

from fairlead.errors import InputError

__all__ = ["PATH_USES", "SEGMENT_BYTES", "HostPath", "PathTable"]

SEGMENT_BYTES = 65536
"""Parts in which messages go by routers (relay/wire/frame.hpp)."""

PATH_USES = ("found", "open", "standard")
"""What MCM's table knows of a path: it was searched; messages take it while latency is high; while
it is acceptable."""


@dataclasses.dataclass(frozen=True)
class HostPath:
    """A path from a host to another.

    Attributes:
        src: Index of the sending host.
        hops: The hosts after it; the last one receives.
        latency_s: Sum over the hops.
        bandwidth_Bps: Smallest of the hops.
        use: By an earlier run, one of PATH_USES; None where it was not used.
    """

    src: int
    hops: tuple[int, ...]
    latency_s: float
    bandwidth_Bps: float
    use: str | None = None

    @property
    def dst(self) -> int:
        """Index of the receiving host."""
        return self.hops[-1]

    @property
    def is_direct(self) -> bool:
        """Whether no other host is on the way."""
        return len(self.hops) == 1

    def transfer_s(self, message_bytes: float) -> float:
        """Time of one message (CMPI section 4.1)."""
        return self.latency_s + message_bytes / self.bandwidth_Bps


@dataclasses.dataclass(frozen=True)
class PathTable:
    """Paths between hosts.

    Attributes:
        hosts: Host names.
        paths: For each pair the direct path, then relayed ones, the best first.
        capacity_Bps: What all paths of a pair can carry together, [src][dst]: the smaller of what
            the sender can send and the receiver can receive.
        segment_s: What a segment of SEGMENT_BYTES takes from each host to each other one, with the
            rule "mcm" also as an earlier run has measured it; [src][dst], `inf` on the diagonal.
    """

    hosts: tuple[str, ...]
    paths: tuple[HostPath, ...]
    capacity_Bps: tuple[tuple[float, ...], ...]
    segment_s: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        seen: set[tuple[int, int]] = set()
        for path in self.paths:
            hosts = (path.src, *path.hops)
            if len(hosts) < 2 or not all(0 <= host < len(self.hosts) for host in hosts):
                raise InputError(
                    f"path table: path {list(hosts)}: expected hosts of 0..{len(self.hosts) - 1}, "
                    "two or more"
                )
            pair = (path.src, path.dst)
            if path.is_direct == (pair in seen):
                names = " -> ".join(self.hosts[host] for host in pair)
                raise InputError(f"path table: {names}: expected the direct path first, once")
            seen.add(pair)

    @property
    def has_relays(self) -> bool:
        """Whether any pair has another path than the direct one."""
        return any(not path.is_direct for path in self.paths)

    def between(self, src: int, dst: int) -> list[HostPath]:
        """The paths of one pair, the direct one first."""
        return [path for path in self.paths if (path.src, path.dst) == (src, dst)]
