# SPDX-License-Identifier: Apache-2.0
"""Measures chosen pairs again, by trains of 64 KiB.

All pairs are first measured by trains of 6 KiB, which take only a quarter of a millisecond: on a
busy machine they mostly measure how long a receiver was not running.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.measure.probe_program import ProbeProgram, chosen_pairs
from fairlead.measure.probe_result import read_result
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

__all__ = ["LONG_TRAINS_BYTES", "long_train_options", "measure_with_long_trains", "network_of"]

LONG_TRAINS_BYTES = 8 * 65536
"""What a pair sends each way, including the trains that are not counted."""

LAUNCH_TIMEOUT_S = 60.0
"""Guards against a launcher that hangs; starting takes a second or two."""


def measure_with_long_trains(
    program: ProbeProgram,
    cluster: Cluster,
    pairs: npt.NDArray[np.bool_],
    pairs_s: float,
) -> Network | None:
    """Latency and bandwidth of chosen pairs.

    Args:
        program: The measuring program.
        cluster: The hosts.
        pairs: Which of them, shape (H, H), symmetric.
        pairs_s: Most time for all of them; pairs that do not fit are `nan`.

    Returns:
        A network of the cluster's hosts, `nan` where nothing was measured; None where measuring
        failed.
    """
    options = long_train_options(pairs, pairs_s)
    timeout_s = LAUNCH_TIMEOUT_S + pairs_s
    finished = program.order(cluster, options, timeout_s=timeout_s)
    return network_of(finished.stdout, cluster)


def long_train_options(pairs: npt.NDArray[np.bool_], pairs_s: float) -> dict[str, object]:
    """The order to the measuring program."""
    return {
        "mode": "long-trains",
        "target_ratio": 0.1,
        "max_samples": 6,
        "budget_s": pairs_s,
        "pairs": chosen_pairs(pairs),
    }


def network_of(printed: str, cluster: Cluster) -> Network | None:
    """The pairs in the measuring program's output; None if it printed no result."""
    result = read_result(printed, cluster.num_hosts)
    if result is None or result.lost_ranks:
        return None
    return result.to_network(
        cluster.hosts, cluster.hosts, {"how": "measured", "mode": "long-trains"}
    )
