# SPDX-License-Identifier: Apache-2.0
"""Fairlead's own JSON form of a placement."""

from __future__ import annotations

from fairlead.act.launch.formats._format import Cores, Format
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement


def _render(placement: Placement, _cluster: Cluster, _cores: Cores) -> str:
    return placement.to_json() + "\n"


def _parse(text: str, _cluster: Cluster) -> list[str]:
    return Placement.from_json(text).host_names()


JSON = Format(
    name="json",
    summary="Fairlead's own record of a placement, with its origin",
    render=_render,
    parse=_parse,
    usage=lambda path, num_ranks: (
        f"{num_ranks} ranks; read it by fairlead.Placement.load({path!r})"
    ),
)
