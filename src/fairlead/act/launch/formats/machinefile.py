# SPDX-License-Identifier: Apache-2.0
"""The machine file of MPICH and Intel MPI: ranks are assigned line by line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from fairlead.act.launch._cpu_list import are_neighbours, hydra_cpu_option, intel_cpu_variable
from fairlead.act.launch.formats._format import Cores, Format, bad_line, join, lines_of
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

_LINE = re.compile(r"([^:\s]+)(?::(\d{1,6}))?", re.ASCII)


def machinefile_lines(host_of_rank: Iterable[str]) -> list[str]:
    """Lines `HOST:N` for ranks in this order; neighbours on one host share a line."""
    return [f"{host}:{len([*ranks])}" for host, ranks in itertools.groupby(host_of_rank)]


def _render(placement: Placement, _cluster: Cluster, _cores: Cores) -> str:
    return join(machinefile_lines(placement.host_names()))


def _parse(text: str, _cluster: Cluster) -> list[str]:
    hosts: list[str] = []
    for number, line in lines_of(text):
        found = _LINE.fullmatch(line)
        if not found or found[2] == "0":
            raise bad_line(number, line, "'HOST:N'")
        hosts += [found[1]] * int(found[2] or 1)
    return hosts


def _cpu_usage(path: str, placement: Placement, lists: Sequence[str]) -> str:
    def line(name: str, words: Iterable[str]) -> str:
        start = f"{name}: mpiexec -machinefile {path} {' '.join(words)}"
        return f"{start} -n {placement.num_ranks} PROGRAM"

    by_intel = line("Intel MPI", ["-genv", *intel_cpu_variable(lists)])
    if not are_neighbours(placement):
        return f"{by_intel}; MPICH binds only neighbouring ranks of a host by a list of CPUs"
    return f"{line('MPICH', hydra_cpu_option(lists))}; {by_intel}"


MPICH = Format(
    name="mpich",
    summary="machine file of MPICH and Intel MPI: hosts and numbers of ranks, in rank order",
    render=_render,
    parse=_parse,
    # Not -f: with it, Intel MPI goes to a host that is named again only once.
    usage=lambda path, num_ranks: f"mpiexec -machinefile {path} -n {num_ranks} PROGRAM",
    cpu_usage=_cpu_usage,
)
