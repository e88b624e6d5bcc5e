# SPDX-License-Identifier: Apache-2.0
"""Measures what interfaces carry, by flows of all hosts at once.

Pairs alone do not show it: where a cloud limits each pair, or each flow, an interface carries
several of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import ProbeError
from fairlead.measure.contention_result import CONTENTION_FORMAT, read_contention
from fairlead.measure.long_trains import LAUNCH_TIMEOUT_S, long_train_options
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.probe_result import PAIRS_FORMAT, or_nan, read_result
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network

__all__ = ["Interfaces", "measure_interfaces"]

Matrix = npt.NDArray[np.float64]

SLOWEST_RATIO = 5.0
"""Messages are sized for no more than this times the slowest pair's rate: a step ends only when the
last ones of each flow are there."""

FEWEST_HOSTS = 3
"""Fewest hosts with an estimate: with two, their pair shows all."""


class Interfaces(NamedTuple):
    """What each host's interface carries at least, shape (H,); `nan` where unknown."""

    out_Bps: Matrix
    in_Bps: Matrix


def measure_interfaces(
    program: ProbeProgram, cluster: Cluster, network: Network, interfaces_s: float
) -> Interfaces | None:
    """The most that each host sent to several others at once, and received from several.

    It is a lower bound: what others share may be full before an interface is. The fastest pair of a
    host is another one; the larger of the two counts. So pairs should be without noise.

    Args:
        program: The measuring program.
        cluster: The hosts.
        network: Their pairs.
        interfaces_s: When no further step begins; one takes a fifth of a second, and longer where
            pairs are very slow.

    Returns:
        What was found; None where there is nothing to find, or few hosts or unknown pairs.

    Raises:
        ProbeError: A host does not answer any more.
    """
    between = np.where(np.eye(network.num_hosts, dtype=bool), np.nan, network.bandwidth_Bps)
    known = between[np.isfinite(between)]
    if not known.size or network.num_hosts < FEWEST_HOSTS:
        return None
    none = np.zeros(between.shape, dtype=bool)
    pair_Bps = min(float(np.median(known)), SLOWEST_RATIO * float(known.min()))
    options = {**long_train_options(none, interfaces_s), "interfaces": {"pair_Bps": pair_Bps}}
    finished = program.order(
        cluster,
        options,
        timeout_s=LAUNCH_TIMEOUT_S + interfaces_s,
        formats=[PAIRS_FORMAT, CONTENTION_FORMAT],
    )
    pairs = read_result(finished.stdout, cluster.num_hosts)
    found = read_contention(finished.stdout, cluster.num_hosts)
    if pairs is None or pairs.lost_ranks or found is None:
        raise ProbeError("a host does not answer")
    if found.num_steps == 0:
        return None
    together = (
        np.array([or_nan(one) for one in nic]) for nic in (found.nic_out_Bps, found.nic_in_Bps)
    )
    fastest = (_largest(between, axis) for axis in (1, 0))
    return Interfaces(*(np.fmax(*both) for both in zip(together, fastest, strict=True)))


def _largest(between: Matrix, axis: int) -> Matrix:
    finite = np.where(np.isfinite(between), between, 0.0).max(axis=axis)
    return np.where(finite > 0, finite, np.nan)
