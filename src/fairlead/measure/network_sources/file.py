# SPDX-License-Identifier: Apache-2.0
"""A network from a file that an earlier probe has written."""

from __future__ import annotations

from fairlead.measure.network_sources.source import NetworkSource
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network


class FileSource(NetworkSource):
    """A `.net.npz` file."""

    form = "FILE"

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """Any text: what is no other source is a file, or else an error that names it."""
        return text is not None

    def at_hand(self, cluster: Cluster | None) -> Network:
        """The network of the file."""
        del cluster
        return Network.load(self.name)
