# SPDX-License-Identifier: Apache-2.0
"""A network that the user declares as racks and pods instead of measuring it."""

from __future__ import annotations

from pathlib import Path

from fairlead.measure.network_sources.host_tree_file import read_host_tree
from fairlead.measure.network_sources.source import NetworkSource
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree


class TreeSource(NetworkSource):
    """A `.toml` file of groups and costs."""

    form = "FILE.toml"

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """By the ending of the name."""
        return text is not None and text.endswith(".toml")

    def look_up(self, cluster: Cluster | None) -> HostTree:
        """The tree of the file."""
        del cluster
        return read_host_tree(Path(self.name))
