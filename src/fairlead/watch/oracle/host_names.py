# SPDX-License-Identifier: Apache-2.0
"""Which host of a topology a source means: by its name, with or without a domain, or address."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["HostNames"]


class HostNames:
    """The hosts of a topology by all names that can only mean one of them."""

    def __init__(self, hosts: Sequence[str]):
        """Names of hosts."""
        self._hosts = {_plain(host): host for host in hosts}
        self._of_prefix: dict[str, set[str]] = {}
        for plain, host in self._hosts.items():
            for prefix in _prefixes(plain):
                self._of_prefix.setdefault(prefix, set()).add(host)

    def match_hosts(self, reported: Iterable[tuple[str, ...]]) -> Mapping[tuple[str, ...], str]:
        """The host that each reporting machine is, as far as that is certain.

        A name with a domain and one without are the same host, unless two machines report under
        names that only differ in their domains: then neither is taken. Empty for a machine that
        is the same as one which reports under the exact name.

        Args:
            reported: For each machine what it may be called, the likeliest name first.
        """
        found: dict[tuple[str, ...], str] = {}
        of_host: dict[str, list[tuple[str, ...]]] = {}
        for names in dict.fromkeys(reported):
            exact = next((self._hosts[_plain(n)] for n in names if _plain(n) in self._hosts), None)
            if exact is not None:
                found[names] = exact
                continue
            near = next(filter(None, (self._by_domain(_plain(name)) for name in names)), None)
            if near is not None:
                of_host.setdefault(near, []).append(names)
        taken = set(found.values())
        for host, some in of_host.items():
            if len(some) == 1:
                found[some[0]] = "" if host in taken else host
        return found

    def _by_domain(self, name: str) -> str | None:
        """The one host whose name is this one without its domain, or this one with a domain."""
        if _is_address(name):
            return None
        for prefix in _prefixes(name):
            if prefix in self._hosts:
                return self._hosts[prefix]
        longer = self._of_prefix.get(name, set())
        return next(iter(longer)) if len(longer) == 1 else None


def _plain(name: str) -> str:
    """A name in small letters without a dot at its end, an address in its shortest form."""
    bare = name.strip().strip("[]").rstrip(".").lower()
    try:
        return str(ipaddress.ip_address(bare.partition("%")[0]))
    except ValueError:
        return bare


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _prefixes(name: str) -> Iterator[str]:
    """`a.b` and `a` of `a.b.c`; none of an address."""
    if _is_address(name):
        return
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
