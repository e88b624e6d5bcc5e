# SPDX-License-Identifier: Apache-2.0
"""The complete graph of a program's cores, weighted by a metric of the routes between them.

Source: ORACLE section III-D.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, TopologyError
from fairlead.model.topology import Reduction
from fairlead.watch.oracle.oracle import Oracle, Question

__all__ = ["NO_METRIC", "WEIGHTS", "machine_graph"]

NO_METRIC = "none"
"""All edges alike: the case "no metric" of ORACLE section V."""

WEIGHTS = {NO_METRIC: 1.0, "hops": 1.0, "bw": 100.0, "stalls": 100.0}
"""Metrics that weigh edges, and what a weight counts in: links for hops, else percent."""


def machine_graph(
    oracle: Oracle, host_of_core: Sequence[str], metric: str, window_s: float
) -> npt.NDArray[np.float64]:
    """Edge weight of each pair of cores, shape (C, C), symmetric, diagonal 0.

    HOPS weighs an edge by the links of its route; BW and STALLS by the largest share, in percent,
    of bandwidth used and of time stalled among them. The larger value of both directions counts.
    Cores of one node, and of nodes on one router, have 0.

    Args:
        oracle: Is asked.
        host_of_core: Name of the host of each core, length C.
        metric: hops, bw, stalls, or none for edges that all weigh 1.
        window_s: Time window of the metric that ends now.

    Raises:
        InputError: The metric weighs no edges.
        TopologyError: Nothing is known of a route.
    """
    if metric not in WEIGHTS:
        raise InputError(f"metric: oracle's are {', '.join(WEIGHTS)}, got {metric!r}")
    if metric == NO_METRIC:
        return np.ones((len(host_of_core),) * 2) - np.eye(len(host_of_core))
    hosts = tuple(dict.fromkeys(host_of_core))
    asked = Question(hosts, (metric,), Reduction.max, window_s)
    values = WEIGHTS[metric] * oracle.ask(asked).metrics[metric].values
    unknown = np.argwhere(np.isnan(values))
    if unknown.size:
        src, dst = (hosts[index] for index in unknown[0])
        raise TopologyError(f"{metric}: nothing is known of the route from {src!r} to {dst!r}")
    weight_of_pair = np.maximum(values, values.T)
    position = {host: index for index, host in enumerate(hosts)}
    at = np.array([position[host] for host in host_of_core])
    return np.asarray(weight_of_pair[np.ix_(at, at)])
