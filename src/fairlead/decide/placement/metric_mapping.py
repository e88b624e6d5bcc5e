# SPDX-License-Identifier: Apache-2.0
"""ORACLE's mapping: Scotch maps the graph of tasks on a complete graph of cores, once.

Source: ORACLE section III-D.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead import _core
from fairlead.errors import InputError, ShapeError
from fairlead.model.cost import rank_matrix

__all__ = ["MOST_CORES", "estimate_costs", "map_by_metric"]

MOST_CORES = 1024
"""Most cores of a complete graph: Scotch keeps a distance for each pair of its parts."""

Ints = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


def map_by_metric(bytes_between: sp.csr_array, weight: Weights, seed: int = 0) -> Ints:
    """A core for each task, by one call of Scotch; no start is compared with another.

    Args:
        bytes_between: What tasks send one another, shape (T, T), [src, dst].
        weight: Edge weight of each pair of cores, shape (C, C), symmetric, each finite and >= 0;
            the diagonal does not count.
        seed: Where Scotch's random numbers start.

    Returns:
        Core of each task, shape (T,), all distinct.

    Raises:
        InputError: Too many cores, or fewer than tasks, or an edge weight out of its range.
        ShapeError: `weight` is not square.
    """
    num_tasks, num_cores = bytes_between.shape[0], len(weight)
    if weight.shape != (num_cores, num_cores):
        raise ShapeError(f"weight: expected a square, got {weight.shape}")
    if not num_tasks <= num_cores <= MOST_CORES:
        raise InputError(
            f"oracle: expected {num_tasks} to {MOST_CORES} cores for {num_tasks} tasks, "
            f"got {num_cores}"
        )
    off_diagonal = weight[~np.eye(num_cores, dtype=bool)]
    if not np.all(np.isfinite(off_diagonal) & (off_diagonal >= 0)):
        raise InputError("weight: each must be finite and >= 0")
    if not np.array_equal(weight, weight.T):
        raise InputError("weight: must be the same in both directions")
    weight = np.ascontiguousarray(weight, dtype=np.float64).copy()
    np.fill_diagonal(weight, 0.0)
    return np.array(_core.scotch_metric_mapping(rank_matrix(bytes_between), weight, seed))


def estimate_costs(bytes_between: sp.csr_array, weight: Weights, core_of_task: Ints) -> Weights:
    """Estimated communication cost of each message: its bytes times the weight of its edge.

    Source: ORACLE section V, before figure 5.
    """
    sent = bytes_between.tocoo()
    return np.asarray(sent.data * weight[core_of_task[sent.row], core_of_task[sent.col]])
