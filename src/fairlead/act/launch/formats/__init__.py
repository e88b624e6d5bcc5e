# SPDX-License-Identifier: Apache-2.0
"""All file formats for placements, each read back and checked before it is written."""

from __future__ import annotations

from pathlib import Path

from fairlead.act.launch.formats._format import Cores, Format
from fairlead.act.launch.formats.host_lines import FLUX_HOSTFILE, SEQ, SLURM
from fairlead.act.launch.formats.machinefile import MPICH
from fairlead.act.launch.formats.rank_order import RANK_ORDER
from fairlead.act.launch.formats.rankfile import RANKFILE, RANKFILE_5
from fairlead.act.launch.formats.record import JSON
from fairlead.act.launch.formats.taskmap import TASKMAP
from fairlead.act.launch.host_names import host_name_problem
from fairlead.errors import InputError, TopologyError
from fairlead.files.archive import write_text
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

__all__ = ["FORMATS", "Cores", "Format", "render_placement", "write_placement"]

FORMATS = {
    known.name: known
    for known in (
        *(RANKFILE, RANKFILE_5, SEQ, MPICH, RANK_ORDER, SLURM, TASKMAP, FLUX_HOSTFILE, JSON),
    )
}


def write_placement(
    placement: Placement,
    cluster: Cluster,
    format: str,
    path: Path | str,
    cores: Cores | None = None,
) -> None:
    """Write a placement in one of FORMATS; the file is complete and checked, or is not written.

    Args:
        placement: The placement; it must fit the cluster.
        cluster: Hosts and slots there are.
        format: A name in FORMATS.
        path: The file to write.
        cores: Cores to bind to, for the rankfiles.

    Raises:
        TopologyError: The placement does not fit the cluster.
        InputError: The format is unknown, does not bind to cores, or the file cannot be written.
    """
    write_text(path, render_placement(placement, cluster, format, cores))


def render_placement(
    placement: Placement, cluster: Cluster, format: str, cores: Cores | None = None
) -> str:
    """The text that `write_placement` writes."""
    chosen = _format(format)
    has_lists = cores is not None and cores.lists is not None and chosen.takes_lists
    if cores is not None and not (chosen.binds or has_lists):
        raise InputError(f"format {format!r} cannot bind ranks to cores; only the rankfiles can")
    for host in cluster.hosts:
        problem = host_name_problem(host)
        if problem:
            raise TopologyError(problem)
    placement.require_fits(cluster)
    text = chosen.render(placement, cluster, cores or Cores())
    # Read back, since some launchers accept wrong files without an error.
    if chosen.parse(text, cluster) != placement.host_names():
        raise TopologyError(f"placement: cannot be written as {format!r} without a loss")
    return text


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"format {name!r} is unknown; there are: {', '.join(FORMATS)}")
    return FORMATS[name]
