# SPDX-License-Identifier: Apache-2.0
"""The host of a target of Prometheus."""

from __future__ import annotations

__all__ = ["host_of_instance"]


def host_of_instance(instance: str) -> str:
    """The host of a target: HOST:PORT, [IPv6]:PORT, or without a port, also as a URL."""
    place = instance.partition("://")[2] or instance
    place = place.partition("/")[0]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    # An address of IPv6 without brackets has no port.
    return place if place.count(":") > 1 else place.partition(":")[0]
