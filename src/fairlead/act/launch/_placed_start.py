# SPDX-License-Identifier: Apache-2.0
"""A start with a placement: options of the launcher that it replaces, and the CPUs of its ranks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from fairlead.act.launch.launch_spec import LaunchSpec

__all__ = ["PLACING_OPTIONS", "RANK", "has_placing_option", "start_of_placement"]

PLACING_OPTIONS = {
    **dict.fromkeys(("map-by", "rank-by", "rf", "rankfile", "N", "npernode", "npersocket"), 1),
    **dict.fromkeys(("ppr", "ppn", "perhost", "order-nodes", "grr"), 1),
    **dict.fromkeys(("distribution", "m", "ntasks-per-node", "relative", "r", "taskmap"), 1),
    **dict.fromkeys(("ntasks-per-socket", "ntasks-per-core", "ntasks-per-gpu"), 1),
    **dict.fromkeys(("bynode", "byslot", "by-node", "by-slot", "rr", "pernode", "nolocal"), 0),
}
"""Options that place ranks, without dashes, and how many values follow each."""

_MCA_OPTIONS = {"mca", "gmca", "omca", "prtemca"}
_PLACING_PARAMETER = re.compile(
    r"rmaps|orte_rankfile|rmaps_(base|default)_(mapping|ranking|schedule)_policy"
    r"|rmaps_base_(by(core|node|slot)|n_pernode|n_persocket|no_schedule_local|pattern|pernode)"
    r"|rmaps_(dist_device|ppr_(n_)?per(node|socket)|ppr_pattern|rank_file_path)"
)
"""Parameters of Open MPI that do what these options do. Source: ompi_info of Open MPI 4.1.4."""

_BINDING_OPTIONS = {
    **dict.fromkeys(("bind-to", "binding", "cpu-set", "cpu-list", "cpus-per-proc"), 1),
    **dict.fromkeys(("cpus-per-rank", "membind", "cpu-bind"), 1),
    **dict.fromkeys(("bind-to-core", "bind-to-socket", "bind-to-none"), 0),
}
"""Options that choose CPUs, likewise."""

RANK = "${OMPI_COMM_WORLD_RANK-${PMI_RANK-${PMIX_RANK-${FLUX_TASK_RANK-$SLURM_PROCID}}}}"
"""The rank of a process for a shell: by Open MPI, Hydra, PMIx, Flux or Slurm."""

_LISTS = "FAIRLEAD_CPUS"

# The lists stand in the order of ranks, with "/" between two. The program replaces the shell, so
# its signals and its exit code are its own.
_BIND = (
    f"rank={RANK}; IFS=/; set -f; "
    f"for cpus in ${_LISTS}; do [ $rank = 0 ] && break; rank=$((rank - 1)); done; "
    f'unset IFS {_LISTS} rank; exec taskset -c "$cpus" "$@"'
)


def has_placing_option(arguments: Iterable[str]) -> bool:
    """Whether one of the user's arguments for the launcher places ranks."""
    words = list(arguments)
    return any(
        word.startswith("-") and (_name(word) in PLACING_OPTIONS or _is_placing(words[at:]))
        for at, word in enumerate(words)
    )


def start_of_placement(
    spec: LaunchSpec, unbinding: Sequence[str] = ("-bind-to", "none")
) -> LaunchSpec:
    """The spec without what its placement and its lists of CPUs replace.

    Args:
        spec: A start with a placement, or one without.
        unbinding: The launcher's arguments by which it binds no rank.
    """
    if spec.placement is None:
        return spec
    arguments = _without(_without_parameters(spec.launcher_args), PLACING_OPTIONS)
    if spec.cpus is None:
        return dataclasses.replace(spec, launcher_args=arguments)
    arguments = _without(arguments, _BINDING_OPTIONS)
    if not spec.cpus.by_program:
        return dataclasses.replace(spec, launcher_args=arguments)
    return dataclasses.replace(
        spec,
        program=("/bin/sh", "-c", _BIND, "sh", *spec.program),
        env={**spec.env, _LISTS: "/".join(spec.cpus.lists)},
        launcher_args=(*arguments, *unbinding),
        cpus=None,
    )


def _without(arguments: Sequence[str], options: Mapping[str, int]) -> tuple[str, ...]:
    """The arguments without these options and their values."""
    left, kept = list(arguments), []
    while left:
        word = left.pop(0)
        name = _name(word)
        if word.startswith("-") and name in options:
            del left[: 0 if "=" in word else options[name]]
        else:
            kept.append(word)
    return tuple(kept)


def _is_placing(words: Sequence[str]) -> bool:
    """Whether words begin with a parameter of Open MPI that places ranks, and its value."""
    is_parameter = len(words) > 2 and words[0].startswith("-") and _name(words[0]) in _MCA_OPTIONS
    return is_parameter and _PLACING_PARAMETER.fullmatch(words[1]) is not None


def _without_parameters(arguments: Sequence[str]) -> list[str]:
    """The arguments without parameters that place ranks."""
    left, kept = list(arguments), []
    while left:
        if _is_placing(left):
            del left[:3]
        else:
            kept.append(left.pop(0))
    return kept


def _name(word: str) -> str:
    return word.lstrip("-").partition("=")[0]
