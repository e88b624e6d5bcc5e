# SPDX-License-Identifier: Apache-2.0
"""MPICH's selection of algorithms (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE), as 4.x reads it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.act.linked_libraries import files_of_libraries, list_libraries
from fairlead.act.tuning_files.tuning_file import NativeRule
from fairlead.errors import InputError
from fairlead.files.whole_file import read_bytes

__all__ = ["MpichSelection", "built_in_selection"]

ALGORITHMS: dict[str, tuple[str, ...]] = {
    "allgather": ("brucks", "recursive_doubling", "ring"),
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather"),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "bcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "reduce": ("binomial", "reduce_scatter_gather"),
    "reduce_scatter": ("pairwise", "recursive_doubling", "recursive_halving"),
}
"""Those of MPIR_CVAR_*_INTRA_ALGORITHM that know nothing of nodes."""

POWER_OF_2_ONLY = frozenset({"recursive_doubling", "scatter_recursive_doubling_allgather"})

_NEEDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("allgather", "recursive_doubling"): ("comm_size=pow2",),
    ("allreduce", "reduce_scatter_allgather"): ("is_op_built_in=yes", "count>=pow2"),
    ("alltoall", "brucks"): ("is_sendbuf_inplace=no",),
    ("alltoall", "pairwise"): ("is_sendbuf_inplace=no",),
    ("alltoall", "scattered"): ("is_sendbuf_inplace=no",),
    ("bcast", "scatter_recursive_doubling_allgather"): ("comm_size=pow2",),
    ("reduce", "reduce_scatter_gather"): ("is_op_built_in=yes", "count>=pow2"),
    ("reduce_scatter", "pairwise"): ("is_commutative=yes",),
    ("reduce_scatter", "recursive_halving"): ("is_commutative=yes",),
}
"""Where an algorithm works, as MPICH's own selection has it; elsewhere that decides."""

_LIBRARY = re.compile(r"libmpi(?:ch)?(?:-\w+)?\.so[.\d]*")
_BUILT_IN = re.compile(rb'\{"collective=[^\0]*"algorithm=MPIR_[^\0]*')

Selection = dict[str, Any]
"""Conditions, each with what holds where it is true; the first that is true decides."""


def built_in_selection(program: Path) -> Selection:
    """The selection that is built into the MPICH library of a program.

    Args:
        program: Linked with the library.

    Raises:
        InputError: There is none.
    """
    files = files_of_libraries(list_libraries(program))
    library = next((file for name, file in files.items() if _LIBRARY.fullmatch(name)), None)
    if library is None:
        raise InputError(f"{program}: is not linked with an MPICH library")
    found = _BUILT_IN.search(read_bytes(library))
    if found is None:
        raise InputError(f"{library}: has no selection of algorithms; MPICH 4 has")
    selection: Selection = json.loads(found[0])
    return selection


@dataclasses.dataclass(frozen=True)
class MpichSelection:
    """MPICH's own selection with conditions on the size put before it.

    MPICH takes a file instead of its own selection, and ends where a call is not in it.

    Attributes:
        own_selection: What MPICH selects without a file, for a program that is linked with it.
    """

    name: str = "mpich"
    family: str = "mpich"
    file_name: str = "selection.json"
    hosts_format: str = "mpich"
    own_selection: Callable[[Path], Selection] = built_in_selection

    @property
    def measuring_env(self) -> Mapping[str, str]:
        """Variables under which algorithms can be chosen while a program runs."""
        return {}

    def algorithms(self, operation: str, num_ranks: int, message_bytes: int) -> Sequence[str]:
        """Algorithms of the operation that work on so many ranks; none where it has no choice."""
        del message_bytes
        is_power = num_ranks & (num_ranks - 1) == 0
        return [
            name
            for name in ALGORITHMS.get(operation, ())
            if is_power or name not in POWER_OF_2_ONLY or operation == "allreduce"
        ]

    def settings(self, operation: str, algorithm: str) -> dict[str, str]:
        """Control variables that choose the algorithm, and their values."""
        return {f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM": algorithm}

    def render(self, rules: Sequence[NativeRule], num_ranks: int, library: Path) -> str:
        """The file; the conditions hold for communicators of all sizes."""
        del num_ranks  # MPICH looks again at the communicator of one rank of each node.
        selection = self.own_selection(library)
        for operation in {rule.operation for rule in rules}:
            own = sorted(
                (rule for rule in rules if rule.operation == operation),
                key=lambda rule: rule.min_bytes,
            )
            branch = selection[f"collective={operation}"]
            branch["comm_type=intra"] = _with_sizes(own, branch["comm_type=intra"])
        return json.dumps(selection, indent=1) + "\n"

    def usage(self, file: str, hosts: str, num_ranks: int) -> str:
        """How to start a program with it."""
        return (
            f"mpiexec -machinefile {hosts} -genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE {file} "
            f"-n {num_ranks} PROGRAM"
        )


def _with_sizes(rules: Sequence[NativeRule], otherwise: Selection) -> Selection:
    """Conditions in ascending order: below a rule, and in it."""
    found: Selection = {}
    end = 0
    for rule in rules:
        if rule.min_bytes > end:
            found[f"avg_msg_size<{rule.min_bytes}"] = otherwise
        found[f"avg_msg_size<={rule.max_bytes}"] = _selection_of(rule, otherwise)
        end = rule.max_bytes + 1
    return {**found, "avg_msg_size=any": otherwise}


def _selection_of(rule: NativeRule, otherwise: Selection) -> Selection:
    """The algorithm where it works, and what MPICH decides elsewhere."""
    title = rule.operation[0].upper() + rule.operation[1:]
    chosen: Selection = {f"algorithm=MPIR_{title}_intra_{rule.algorithm}": {}}
    for need in reversed(_NEEDS.get((rule.operation, rule.algorithm), ())):
        name, _, value = need.partition("=")
        if need == "count>=pow2":
            chosen = {"count<pow2": otherwise, "count=any": chosen}
        elif value == "pow2":
            chosen = {need: chosen, f"{name}=any": otherwise}
        else:
            other = {"yes": "no", "no": "yes"}[value]
            chosen = {need: chosen, f"{name}={other}": otherwise}
    return chosen
