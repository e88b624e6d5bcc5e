# SPDX-License-Identifier: Apache-2.0
"""Formats that name one host per line and rank: Open MPI's seq, Slurm's and Flux's hostfiles."""

from __future__ import annotations

import re

from fairlead.act.launch._cpu_list import slurm_cpu_option
from fairlead.act.launch.formats._format import Cores, Format, bad_line, join, lines_of
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

_CORES = re.compile(r"[ \t]+[0-9]+(-[0-9]+)?(?=[ \t]*$)", re.ASCII | re.MULTILINE)


def _render(placement: Placement, _cluster: Cluster, _cores: Cores) -> str:
    return join(placement.host_names())


def _render_seq(placement: Placement, _cluster: Cluster, cores: Cores) -> str:
    # Open MPI 5.0.11 ignores the second column.
    if cores.lists is None:
        return join(placement.host_names())
    lines = zip(placement.host_names(), cores.lists, strict=True)
    return join([f"{host} {own}" for host, own in lines])


def _parse_seq(text: str, cluster: Cluster) -> list[str]:
    return _parse(re.sub(_CORES, "", text), cluster)


def _parse(text: str, _cluster: Cluster) -> list[str]:
    hosts = []
    for number, line in lines_of(text):
        if len(line.split()) != 1:
            raise bad_line(number, line, "one host per line")
        hosts.append(line)
    return hosts


def _parse_slurm(text: str, cluster: Cluster) -> list[str]:
    # Slurm takes commas for line breaks.
    return _parse(text.replace(",", "\n"), cluster)


SEQ = Format(
    name="seq",
    summary="host of each rank, for Open MPI's --map-by seq",
    render=_render_seq,
    parse=_parse_seq,
    takes_lists=True,
    usage=lambda path, num_ranks: (
        f"Open MPI 4: mpirun --hostfile {path} --map-by seq -n {num_ranks} PROGRAM; "
        f"Open MPI 5: mpirun --hostfile HOSTFILE --map-by seq:file={path} -n {num_ranks} PROGRAM"
    ),
)

SLURM = Format(
    name="slurm",
    summary="host of each task, for srun inside an allocation",
    render=_render,
    parse=_parse_slurm,
    # Not with topology plugins, CR_LLN or CR_Pack_Nodes, which overrule it (srun's manual page).
    usage=lambda path, num_ranks: f"SLURM_HOSTFILE={path} srun -m arbitrary -n {num_ranks} PROGRAM",
    cpu_usage=lambda path, placement, lists: (
        f"SLURM_HOSTFILE={path} srun -m arbitrary {slurm_cpu_option(lists)} "
        f"-n {placement.num_ranks} PROGRAM"
    ),
)

FLUX_HOSTFILE = Format(
    name="flux-hostfile",
    summary="host of each task, for flux run; independent of the order of Flux's nodes",
    render=_render,
    parse=_parse,
    usage=lambda path, num_ranks: f"flux run --taskmap=hostfile:{path} -n {num_ranks} PROGRAM",
)
