# SPDX-License-Identifier: Apache-2.0
"""Who may keep a connection: bounds for each address, and a share for those who may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

__all__ = ["Places"]


class Connection(Protocol):
    """What is counted."""

    @property
    def is_idle(self) -> bool:
        """Whether it can be closed without an answer being lost."""


Kind = TypeVar("Kind", bound=Connection)


class Places(Generic[Kind]):
    """Connections by address: unknown ones until a request passed, then settled ones.

    A new one is never refused: it would be the client that needs an answer. The oldest of those
    that are too many goes instead.
    """

    def __init__(
        self, *, most: int, most_of_peer: int, most_unknown: int, most_unknown_of_peer: int
    ):
        """No connection.

        Args:
            most: Maximum number of connections.
            most_of_peer: Maximum number from one address.
            most_unknown: Maximum number of unknown ones.
            most_unknown_of_peer: Maximum number of unknown ones from one address.
        """
        self._most, self._most_of_peer = most, most_of_peer
        self._most_unknown, self._most_unknown_of_peer = most_unknown, most_unknown_of_peer
        # In the order in which they came.
        self._unknown: dict[str, dict[Kind, None]] = {}
        self._settled: dict[str, dict[Kind, None]] = {}
        self._peer_of: dict[Kind, str] = {}

    def enter(self, connection: Kind, peer: str) -> list[Kind]:
        """Count a new connection; returns those that have to be closed for it."""
        self._peer_of[connection] = peer
        self._unknown.setdefault(peer, {})[connection] = None
        closed = []
        for one in self._too_many(peer, connection):
            self.leave(one)
            closed.append(one)
        return closed

    def settle(self, connection: Kind) -> None:
        """A request of it passed."""
        peer = self._peer_of.get(connection)
        if peer is not None and self._drop(self._unknown, peer, connection):
            self._settled.setdefault(peer, {})[connection] = None

    def leave(self, connection: Kind) -> None:
        """It is gone."""
        peer = self._peer_of.pop(connection, None)
        if peer is not None:
            self._drop(self._unknown, peer, connection)
            self._drop(self._settled, peer, connection)

    @staticmethod
    def _drop(of_peer: dict[str, dict[Kind, None]], peer: str, connection: Kind) -> bool:
        some = of_peer.get(peer, {})
        if connection not in some:
            return False
        del some[connection]
        if not some:
            del of_peer[peer]
        return True

    def _too_many(self, peer: str, new: Kind) -> Iterator[Kind]:
        """Connections beyond the bounds, one after another, while each before is dropped."""
        while len(self._unknown.get(peer, ())) > self._most_unknown_of_peer:
            yield next(iter(self._unknown[peer]))
        while sum(map(len, self._unknown.values())) > self._most_unknown:
            yield next(each for each in _largest(self._unknown) if each is not new)
        while self._num_of(peer) > self._most_of_peer:
            yield self._oldest(self._settled.get(peer, {}), self._unknown.get(peer, {}), new)
        while len(self._peer_of) > self._most:
            yield self._oldest(_largest(self._settled), _largest(self._unknown), new)

    def _num_of(self, peer: str) -> int:
        return len(self._unknown.get(peer, ())) + len(self._settled.get(peer, ()))

    @staticmethod
    def _oldest(settled: dict[Kind, None], unknown: dict[Kind, None], new: Kind) -> Kind:
        """The first unknown one, or else the first idle one, or else the new one."""
        others = (each for each in unknown if each is not new)
        idle = (each for each in settled if each.is_idle)
        return next(others, next(idle, new))


def _largest(of_peer: dict[str, dict[Kind, None]]) -> dict[Kind, None]:
    """The connections of the address that has most; none where there is no address."""
    return max(of_peer.values(), key=len, default={})
