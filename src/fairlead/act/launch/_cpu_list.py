# SPDX-License-Identifier: Apache-2.0
"""The CPUs of ranks for launchers that take one list for all hosts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from fairlead.act.launch.launch_spec import LaunchSpec
from fairlead.errors import LaunchError
from fairlead.model.cpu_lists import cpus_of_list
from fairlead.model.placement import Placement

__all__ = [
    "are_neighbours",
    "common_cpu_list",
    "hydra_cpu_option",
    "intel_cpu_variable",
    "slurm_cpu_option",
]


def common_cpu_list(spec: LaunchSpec, launcher: str) -> list[str]:
    """The CPUs of the first, second, ... rank of every host.

    Raises:
        LaunchError: The hosts need different lists.
    """
    assert spec.cpus is not None
    assert spec.placement is not None
    lists_of_host: dict[str, list[str]] = {}
    for host, cpus in zip(spec.placement.host_names(), spec.cpus.lists, strict=True):
        lists_of_host.setdefault(host, []).append(cpus)
    longest = max(lists_of_host.values(), key=len)
    if any(lists != longest[: len(lists)] for lists in lists_of_host.values()):
        raise LaunchError(f"{launcher} takes one list of CPUs for all hosts")
    return longest


def are_neighbours(placement: Placement) -> bool:
    """Whether the ranks of each host follow one another.

    For each line of a machine file, Hydra 4.0.2 and 4.3.2 begin a list of CPUs anew.
    """
    runs = [host for host, _ in itertools.groupby(placement.host_names())]
    return len(set(runs)) == len(runs)


def slurm_cpu_option(lists: Sequence[str]) -> str:
    """The option of srun with these CPUs. Source: srun(1), `--cpu-bind`."""
    cpus = _single_cpus(lists)
    if cpus is not None:
        return f"--cpu-bind=map_cpu:{','.join(map(str, cpus))}"
    return f"--cpu-bind=mask_cpu:{','.join(map(_mask, lists))}"


def hydra_cpu_option(lists: Sequence[str]) -> tuple[str, str]:
    """The option of MPICH's launcher with these CPUs. Source: its `-bind-to -help`."""
    cpus = ["+".join(map(str, sorted(cpus_of_list(text)))) for text in lists]
    return "-bind-to", f"user:{','.join(cpus)}"


def intel_cpu_variable(lists: Sequence[str]) -> tuple[str, str]:
    """The variable of Intel MPI with these CPUs, and its value."""
    cpus = _single_cpus(lists)
    if cpus is not None:
        return "I_MPI_PIN_PROCESSOR_LIST", ",".join(map(str, cpus))
    return "I_MPI_PIN_DOMAIN", f"[{','.join(map(_mask, lists))}]"


def _single_cpus(lists: Sequence[str]) -> list[int] | None:
    """The CPU of each list; None where one has several."""
    cpus = [cpus_of_list(text) for text in lists]
    return [min(one) for one in cpus] if all(len(one) == 1 for one in cpus) else None


def _mask(cpus: str) -> str:
    """The bits of a list in the form of cpuset(7), in hexadecimal digits."""
    return hex(sum(1 << cpu for cpu in cpus_of_list(cpus)))
