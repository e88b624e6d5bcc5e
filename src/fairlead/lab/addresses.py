# SPDX-License-Identifier: Apache-2.0
"""Addresses inside a lab. Labs are isolated, so all labs use the same addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

__all__ = ["LOGIN", "NETWORK", "address_of_host", "hosts_file", "login_address"]

LOGIN = "login"
"""Name of the head node, where `mpirun` runs; its traffic is not shaped."""
NETWORK = ipaddress.IPv4Network("10.77.0.0/16")


def address_of_host(index: int) -> str:
    """Address of host number `index`."""
    return str(NETWORK[index + 1])


def login_address() -> str:
    """Address of the head node."""
    return str(NETWORK[-2])


def hosts_file(hosts: Sequence[str]) -> str:
    """Content of /etc/hosts on every host."""
    lines = ["127.0.0.1 localhost", f"{login_address()} {LOGIN}"]
    lines += [f"{address_of_host(index)} {host}" for index, host in enumerate(hosts)]
    return "\n".join(lines) + "\n"
