# SPDX-License-Identifier: Apache-2.0
"""All kinds of network sources."""

from __future__ import annotations

from fairlead.errors import InputError
from fairlead.measure.network_sources.file import FileSource
from fairlead.measure.network_sources.oracle import OracleSource
from fairlead.measure.network_sources.probe import KeptSource, ProbeSource
from fairlead.measure.network_sources.source import Measuring, NetworkSource
from fairlead.measure.network_sources.tcp import TcpSource
from fairlead.measure.network_sources.topology import TopologySource
from fairlead.measure.network_sources.tree import TreeSource
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network

__all__ = ["SOURCES", "network_from", "network_source", "source_kind"]

SOURCES: tuple[type[NetworkSource], ...] = (
    KeptSource,
    ProbeSource,
    TcpSource,
    OracleSource,
    TopologySource,
    TreeSource,
    FileSource,
)
"""The first kind that recognises the user's text is used; any other text names a file."""


def source_kind(text: str | None) -> type[NetworkSource]:
    """The kind of source that the user named; None for the default."""
    return next(kind for kind in SOURCES if kind.recognises(text))


def network_source(text: str | None, measuring: Measuring) -> NetworkSource:
    """The source that the user named."""
    return source_kind(text)(text, measuring)


def network_from(source: NetworkSource, cluster: Cluster | None) -> Network | HostTree:
    """The network of a source, measured if necessary, or a declared tree.

    Args:
        source: The source.
        cluster: The hosts; None, where it is given, for all that it holds.

    Raises:
        Error: It cannot be had, or nothing says which hosts are to be measured.
    """
    known = source.look_up(cluster)
    if known is not None:
        return known
    if cluster is None:
        raise InputError(f"{source.name}: which hosts are to be measured is not said")
    return source.measure(cluster)
