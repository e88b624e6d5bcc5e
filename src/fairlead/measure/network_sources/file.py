# SPDX-License-Identifier: Apache-2.0
"""A network from a file written by an earlier probe."""

from __future__ import annotations

from fairlead.measure.network_sources.source import NetworkSource
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network


class FileSource(NetworkSource):
    """A `.net.npz` file."""

    form = "FILE"

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """Any text: if it is no other source, it is a file, or an error names it."""
        return text is not None

    def look_up(self, cluster: Cluster | None) -> Network:
        """The network of the file."""
        del cluster
        return Network.load(self.name)
