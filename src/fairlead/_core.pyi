"""
The compiled core: costs of placements, and placements by Scotch and optimize.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class RankMatrix:
    """Sparse (T, T) matrix between ranks, [src, dst]."""

    def __init__(self, row_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class NetworkArrays:
    """A measured network, [src, dst]."""

    def __init__(self, latency_s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bandwidth_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nic_out_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nic_in_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], src_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Effort:
    """What `optimize` may spend, and where it begins."""

    def __init__(self, seed: int, num_proposals: int, time_limit_s: float, num_threads: int, starts: Sequence[Sequence[int]], fixed_host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_moves: int, on_progress: Callable[[int, int], bool] | None) -> None: ...

class PlacementCost:
    """Costs of one placement."""

    @property
    def inter_bytes(self) -> float: ...

    @property
    def intra_bytes(self) -> float: ...

    @property
    def comm_time_s(self) -> float: ...

    @property
    def bottleneck_s(self) -> float: ...

    @property
    def weighted_sum_bytes(self) -> float: ...

    @property
    def weighted_sum_messages(self) -> float: ...

def evaluate(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> PlacementCost:
    """Costs of a placement; nan where traffic crosses an unmeasured pair."""

def weighted_sum(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Sum of traffic[src, dst] * cost[host of src, host of dst]."""

def scotch_placements(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, num_tries: int, largest_distance: float = 1000.0) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
    """Placements by Scotch, one per row, each within the slots."""

def optimize_sum(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], effort: Effort) -> list[int]:
    """The placement of the smallest sum found."""

def optimize_sum_on_tree(traffic: RankMatrix, group_of_host: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost_of_level: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], effort: Effort) -> list[int]:
    """The same on a tree: groups (L, H), costs (L + 2,)."""

def optimize_bottleneck(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], effort: Effort) -> list[int]:
    """The placement of the smallest bottleneck_s found."""
