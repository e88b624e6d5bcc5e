# SPDX-License-Identifier: Apache-2.0
"""Open MPI's dynamic rules (coll_tuned_dynamic_rules_filename), as 4.0 to 5.0 read them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.tuning_files.tuning_file import NativeRule

__all__ = ["OpenMpiRules"]

COLLECTIVE_IDS = {
    **{"allgather": 0, "allreduce": 2, "alltoall": 3, "bcast": 7},
    **{"reduce": 11, "reduce_scatter": 12},
}
"""The order of ompi/mca/coll/base/coll_base_functions.h. Those whose rules go by the size of the
message; gather and scatter go by the size of a datatype."""

ALGORITHMS: dict[str, dict[str, int]] = {
    "allgather": {"bruck": 2, "recursive_doubling": 3, "ring": 4, "neighbor": 5},
    "allreduce": {"nonoverlapping": 2, "recursive_doubling": 3, "ring": 4, "rabenseifner": 6},
    "alltoall": {"linear": 1, "pairwise": 2, "modified_bruck": 3, "linear_sync": 4},
    "bcast": {
        **{"basic_linear": 1, "chain": 2, "pipeline": 3, "split_binary_tree": 4},
        **{"binary_tree": 5, "binomial": 6, "scatter_allgather": 8, "scatter_allgather_ring": 9},
    },
    "reduce": {"chain": 2, "pipeline": 3, "binary": 4, "binomial": 5, "rabenseifner": 7},
    "reduce_scatter": {"non-overlapping": 1, "recursive_halving": 2, "ring": 3},
}
"""Names and numbers as `ompi_info --param coll tuned --level 9` of 4.1.4 has them."""

SEGMENTED = {
    "bcast": ("chain", "pipeline", "split_binary_tree", "binary_tree"),
    "reduce": ("chain", "pipeline", "binary"),
}
SEGMENT_BYTES = 65536
"""What trees cut a message into; without segments a pipeline waits for the whole of it."""

FAN_OUTS = {"chain": 4}
"""As many chains as an algorithm has that is timed by its name
(coll_tuned_bcast_algorithm_chain_fanout). By a rule without a number it has one: a pipeline."""

OF_ALL_RANKS = frozenset({"allgather", "alltoall", "reduce_scatter"})
"""Their rules go by the bytes of all ranks together."""

EVEN_ONLY = frozenset({"neighbor"})
POWER_OF_2_ONLY = frozenset({"recursive_doubling"})


@dataclasses.dataclass(frozen=True)
class OpenMpiRules:
    """Rules by size of communicator and message; algorithm 0 is Open MPI's own decision."""

    name: str = "ompi"
    family: str = "openmpi"
    file_name: str = "rules.conf"
    hosts_format: str = "seq"

    @property
    def measuring_env(self) -> Mapping[str, str]:
        """Variables under which algorithms can be chosen while a program runs."""
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}

    def algorithms(self, operation: str, num_ranks: int, message_bytes: int) -> Sequence[str]:
        """Algorithms of the operation that work on so many ranks; none where it has no choice."""
        found = []
        for name in ALGORITHMS.get(operation, {}):
            if name in EVEN_ONLY and num_ranks % 2:
                continue
            # Where the number of ranks is no power of 2 Open MPI takes another one.
            if operation == "allgather" and name in POWER_OF_2_ONLY and num_ranks & (num_ranks - 1):
                continue
            is_cut = name in SEGMENTED.get(operation, ()) and message_bytes > SEGMENT_BYTES
            found.append(f"{name}/{SEGMENT_BYTES}" if is_cut else name)
        return found

    def settings(self, operation: str, algorithm: str) -> dict[str, str]:
        """Control variables that choose the algorithm, and their values."""
        name, _, segment_bytes = algorithm.partition("/")
        variable = f"coll_tuned_{operation}_algorithm"
        chosen = {variable: name}
        if segment_bytes:
            chosen[f"{variable}_segmentsize"] = segment_bytes
        return chosen

    def render(self, rules: Sequence[NativeRule], num_ranks: int, library: Path) -> str:
        """The file; other sizes of communicators stay as Open MPI decides."""
        del library
        ordered = sorted(rules, key=lambda rule: (COLLECTIVE_IDS[rule.operation], rule.min_bytes))
        groups = [
            (operation, list(group))
            for operation, group in itertools.groupby(ordered, key=lambda rule: rule.operation)
        ]
        lines = [f"{len(groups)} # number of collectives"]
        for operation, group in groups:
            messages = _messages(operation, group, num_ranks)
            lines += [
                f"{COLLECTIVE_IDS[operation]} # {operation}",
                "2 # sizes of communicators",
                f"{num_ranks} # ranks",
                f"{len(messages)} # sizes of messages",
                *messages,
                f"{num_ranks + 1} # ranks and more: as Open MPI decides",
                "1 # size of messages",
                "0 0 0 0",
            ]
        return "\n".join(lines) + "\n"

    def usage(self, file: str, hosts: str, num_ranks: int) -> str:
        """How to start a program with it."""
        return (
            f"mpirun --hostfile {hosts} --map-by seq --mca coll_tuned_use_dynamic_rules 1 "
            f"--mca coll_tuned_dynamic_rules_filename {file} -n {num_ranks} PROGRAM"
        )


def _messages(operation: str, rules: Sequence[NativeRule], num_ranks: int) -> list[str]:
    """Lines "bytes algorithm fan-out segment"; each holds up to the bytes of the next."""
    factor = num_ranks if operation in OF_ALL_RANKS else 1
    first_bytes: dict[int, str] = {0: "0 0 0"}
    for rule in rules:
        name, _, segment_bytes = rule.algorithm.partition("/")
        number = ALGORITHMS[operation][name]
        what = f"{number} {FAN_OUTS.get(name, 0)} {segment_bytes or 0}"
        first_bytes[rule.min_bytes * factor] = what
        first_bytes.setdefault((rule.max_bytes + 1) * factor, "0 0 0")
    return [f"{size} {what}" for size, what in sorted(first_bytes.items())]
