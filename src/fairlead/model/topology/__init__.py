# SPDX-License-Identifier: Apache-2.0
"""The links of a network, and which of them a message from host to host takes."""

from fairlead.model.topology.links import Links
from fairlead.model.topology.rails import RailRoutes
from fairlead.model.topology.routes import Reducer, Reduction, Routes
from fairlead.model.topology.table import TableRoutes
from fairlead.model.topology.topology import Topology
from fairlead.model.topology.torus import TorusRoutes
from fairlead.model.topology.tree import TreeRoutes, ends_only
from fairlead.model.topology.whole_torus import port_name, whole_torus

__all__ = [
    "Links",
    "RailRoutes",
    "Reducer",
    "Reduction",
    "Routes",
    "TableRoutes",
    "Topology",
    "TorusRoutes",
    "TreeRoutes",
    "ends_only",
    "port_name",
    "whole_torus",
]
