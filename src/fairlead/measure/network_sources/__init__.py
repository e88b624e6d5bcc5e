# SPDX-License-Identifier: Apache-2.0
"""Sources of networks: one interface, one file per kind of source, one catalogue."""

from fairlead.measure.network_sources.catalogue import (
    SOURCES,
    network_from,
    network_source,
    source_kind,
)
from fairlead.measure.network_sources.source import Measuring, NetworkSource, require_network
from fairlead.measure.network_sources.tcp import TcpSource
from fairlead.measure.network_sources.tree import TreeSource

__all__ = [
    "SOURCES",
    "Measuring",
    "NetworkSource",
    "TcpSource",
    "TreeSource",
    "network_from",
    "network_source",
    "require_network",
    "source_kind",
]
