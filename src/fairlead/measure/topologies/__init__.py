# SPDX-License-Identifier: Apache-2.0
"""Topologies as sites, clouds and fabrics describe them."""

from fairlead.measure.topologies.catalogue import IMPORTS, import_topology

__all__ = ["IMPORTS", "import_topology"]
