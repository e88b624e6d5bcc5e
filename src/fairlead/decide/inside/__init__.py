# SPDX-License-Identifier: Apache-2.0
"""Choosing which of a host's CPUs each of its ranks gets."""

from fairlead.decide.inside.core_shares import CoreShare, share_cores
from fairlead.decide.inside.kept_mapping import KeptMapping, keep_mapping, load_mapping
from fairlead.decide.inside.mapping import (
    METHODS_INSIDE,
    InsideMapping,
    map_inside,
    map_inside_alike,
)
from fairlead.decide.inside.places import HostPlaces, common_list, places_of, require_known
from fairlead.decide.inside.static_mapping import map_cores

__all__ = [
    "METHODS_INSIDE",
    "CoreShare",
    "HostPlaces",
    "InsideMapping",
    "KeptMapping",
    "common_list",
    "keep_mapping",
    "load_mapping",
    "map_cores",
    "map_inside",
    "map_inside_alike",
    "places_of",
    "require_known",
    "share_cores",
]
