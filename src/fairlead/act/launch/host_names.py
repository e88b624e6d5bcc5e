# SPDX-License-Identifier: Apache-2.0
"""Host names: which are safe to pass to a launcher, and which mean this machine."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence

from fairlead.errors import LaunchError

# Names reach ssh as an argument and launchers' files as text: a leading '-' would become an option
# of ssh, white space or a shell's characters another command. RFC 1123 plus '_' (seen in
# containers) and ':' (IPv6) is what real names are made of.
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._:-]*[A-Za-z0-9_])?\.?", re.ASCII)

_LONGEST_NAME = 255


def host_name_problem(name: str) -> str | None:
    """What is wrong with a host name, or None when it may be passed to launchers and ssh."""
    if not name:
        return "a host name is missing"
    if len(name) > _LONGEST_NAME:
        return f"host name of {len(name)} characters; at most {_LONGEST_NAME} are allowed"
    if not _NAME.fullmatch(name):
        return (
            f"host name {name!r} is not usable: letters, digits, '.', '-', '_' are allowed, "
            "and it starts with a letter or digit"
        )
    if ":" in name and not is_address(name):
        return f"host name {name!r} is not usable: ':' belongs to addresses of IPv6 alone"
    return None


def is_address(name: str) -> bool:
    """Whether a host is named by an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_local_host(name: str) -> bool:
    """Whether a host name means the machine that this process runs on."""
    this_host = socket.gethostname()
    if name in ("localhost", "127.0.0.1", "::1", this_host, this_host.split(".")[0]):
        return True
    return any(_is_own_address(family, address) for family, address in _addresses(name))


def names_of_this_machine(names: Sequence[str]) -> list[str]:
    """Those of these names that mean the machine that this process runs on.

    Only what may be its name is looked up: `localhost`, addresses, and names that begin as its own
    does. A list of ten thousand hosts asks the name service nothing else.
    """
    own = socket.gethostname().partition(".")[0].lower()
    return [name for name in names if _may_be_local(name, own) and is_local_host(name)]


def _may_be_local(name: str, own: str) -> bool:
    return is_address(name) or name.partition(".")[0].lower() in ("localhost", own)


def further_names(name: str) -> list[str]:
    """Other names that a host may have for itself: its addresses and, here, its own name."""
    names = [socket.gethostname()] if is_local_host(name) else []
    for _, text in _addresses(name):
        address = ipaddress.ip_address(text.split("%")[0])
        if not address.is_loopback:
            names.append(str(address))
    return [other for other in dict.fromkeys(names) if other != name]


def address_of(name: str) -> str:
    """The address by which other hosts reach this one, in numbers.

    Raises:
        LaunchError: The name has no address; the message names it.
    """
    addresses = [text.split("%")[0] for _, text in _addresses(name)]
    # An address that only this machine knows is of no use to others, if there is any other.
    addresses.sort(key=lambda text: ipaddress.ip_address(text).is_loopback)
    if not addresses:
        raise LaunchError(f"{name}: no name service knows its address")
    return addresses[0]


def addresses_for_all(hosts: Sequence[str]) -> list[str]:
    """Addresses by which the hosts reach each other.

    Raises:
        LaunchError: One has a loopback address only, and another host has not.
    """
    addresses = [address_of(host) for host in hosts]
    is_loopback = [ipaddress.ip_address(address).is_loopback for address in addresses]
    # As with Debian's "127.0.1.1 NAME" in /etc/hosts. If all are, they are all this machine.
    if any(is_loopback) and not all(is_loopback):
        index = is_loopback.index(True)
        raise LaunchError(
            f"{hosts[index]}: the name means {addresses[index]} here, where other hosts cannot "
            "reach it; give its address on the network instead, or correct /etc/hosts"
        )
    return addresses


def _addresses(name: str) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return []
    return [(family, str(address[0])) for family, _, _, _, address in found]


def _is_own_address(family: socket.AddressFamily, address: str) -> bool:
    # Only addresses of this machine can be bound; nothing is sent.
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
