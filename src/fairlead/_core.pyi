"""
The compiled core: costs of placements, placements by Scotch and optimize, simulations.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Nic(enum.Enum):
    """Which server receives a node's messages."""

    separate = 0

    shared = 1

    send_only = 2

class Forwarding(enum.Enum):
    """When receiving begins."""

    store_and_forward = 0

    cut_through = 1

class Arrivals(enum.Enum):
    """When messages are sent."""

    periodic = 0

    random_phase = 1

    poisson = 2

class SimulatedMachine:
    """A cluster of equal nodes."""

    def __init__(self, *, num_nodes: int, sockets_per_node: int, cores_per_socket: int, nic_Bps: float, memory_Bps: float, remote_memory_ratio: float, cache_Bps: float, largest_cache_bytes: int, switch_ns: int) -> None: ...

class ServerLoad:
    """Load of one server."""

    @property
    def num_messages(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def busy_ns(self) -> int: ...

    @property
    def waiting_s(self) -> float: ...

    @property
    def longest_wait_ns(self) -> int: ...

    @property
    def longest_queue(self) -> int: ...

    @property
    def offered_ratio(self) -> float: ...

class JobOutcome:
    """Result of one job."""

    @property
    def finish_ns(self) -> int: ...

    @property
    def num_messages(self) -> int: ...

    @property
    def waiting_s(self) -> float: ...

class Simulator:
    """First-come-first-served servers of a cluster."""

    def __init__(self, machine: SimulatedMachine, stream_integers: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stream_times_ns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], num_jobs: int, *, nic: Nic, forwarding: Forwarding, arrivals: Arrivals, is_closed_loop: bool, seed: int) -> None: ...

    def advance(self, num_messages: int) -> bool:
        """Simulates about that many more messages; whether some are left."""

    def num_messages(self) -> int:
        """Number of messages of all streams."""

    def num_sent(self) -> int:
        """So far."""

    def servers(self) -> list[ServerLoad]:
        """
        Sending and receiving interface of each node, memory and cache of each socket.
        """

    def jobs(self) -> list[JobOutcome]:
        """In their order."""

class RankMatrix:
    """Sparse (T, T) matrix between ranks, [src, dst]."""

    def __init__(self, row_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class NetworkArrays:
    """A measured network, [src, dst]."""

    def __init__(self, latency_s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bandwidth_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nic_out_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nic_in_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], src_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dst_of_pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity_Bps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class DemandArrays:
    """Work of ranks, and speeds of hosts."""

    def __init__(self, work_s: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], one_core_speed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], all_cores_speed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class SearchLimits:
    """Bounds on the search of `optimize`, and its starts."""

    def __init__(self, seed: int, num_proposals: int, time_limit_s: float, num_threads: int, starts: Sequence[Sequence[int]], fixed_host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_moves: int, on_progress: Callable[[int, int], bool] | None, deadline_s: float = float('inf')) -> None: ...

class PredictedPlacement:
    """Result of one walk."""

    @property
    def core_of_rank(self) -> list[int]: ...

    @property
    def waiting_s(self) -> float: ...

class JobsProblem:
    """Jobs, and the machine that they share."""

    def __init__(self, machine: SimulatedMachine, stream_rows: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], periods_ns: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], num_ranks: int, free_cores: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, nic: Nic, arrivals: Arrivals) -> None: ...

def predicted_waiting_s(problem: JobsProblem, core_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Total waiting time of all messages by the load model."""

def optimize_jobs(problem: JobsProblem, limits: SearchLimits) -> list[PredictedPlacement]:
    """Results of all walks, the least predicted waiting first."""

class Schedule:
    """What a collective operation does."""

    def __init__(self, *, operation: str, form: str, method: str, num_hosts: int, root: int, message_bytes: int, predicted_s: float, lower_bound_s: float, order: Sequence[int], trees: Sequence[Sequence[int]], tree_of_segment: Sequence[int], share_of_segment: Sequence[float], levels: Sequence[Sequence[Sequence[int]]], window: int, max_sends: int, num_parts: int) -> None: ...

    @property
    def operation(self) -> str: ...

    @property
    def form(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def num_hosts(self) -> int: ...

    @property
    def root(self) -> int: ...

    @property
    def message_bytes(self) -> int: ...

    @property
    def predicted_s(self) -> float: ...

    @property
    def lower_bound_s(self) -> float: ...

    @property
    def order(self) -> list[int]: ...

    @property
    def trees(self) -> list[list[int]]: ...

    @property
    def tree_of_segment(self) -> list[int]: ...

    @property
    def share_of_segment(self) -> list[float]: ...

    @property
    def levels(self) -> list[list[list[int]]]: ...

    @property
    def window(self) -> int: ...

    @property
    def max_sends(self) -> int: ...

    @property
    def num_parts(self) -> int: ...

    def check(self) -> None:
        """Raises InputError for the first thing no executor could follow."""

def collective_methods() -> list[tuple[str, str]]:
    """Names and summaries of all methods that plan collectives."""

def is_collective_method_for(name: str, operation: str) -> bool:
    """Whether the method plans the operation."""

def collective_variants() -> list[tuple[str, str]]:
    """
    Names of the methods that fix a size of segments, and of the method that searches it.
    """

def host_sizes(operation: str, bytes: int, ranks_of_host: Sequence[int]) -> tuple[int, list[float]]:
    """
    Size of a message between hosts, and of each host's block where these differ.
    """

def plan_collective(network: NetworkArrays, operation: str, root: int, message_bytes: int, block_bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], method: str, factor: float, max_span: int) -> Schedule:
    """The method's schedule with predicted time and lower bound."""

def predicted_s(network: NetworkArrays, schedule: Schedule, block_bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Simulated time of a schedule."""

def lower_bound_s(network: NetworkArrays, operation: str, root: int, message_bytes: int, block_bytes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """No algorithm is faster."""

class Hierarchy:
    """CMPI's groups of hosts, level by level."""

    @property
    def group_of_host(self) -> list[list[int]]: ...

    @property
    def transfer_s(self) -> list[float]: ...

    @property
    def level_of_pair(self) -> list[int]: ...

    @property
    def latency_asymmetry_ratio(self) -> float: ...

    @property
    def bandwidth_asymmetry_ratio(self) -> float: ...

def build_hierarchy(network: NetworkArrays, message_bytes: float, factor: float, max_span: int) -> Hierarchy:
    """Groups by CMPI's Algorithms 1 and 2."""

class PlacementCost:
    """Costs of one placement."""

    @property
    def inter_bytes(self) -> float: ...

    @property
    def intra_bytes(self) -> float: ...

    @property
    def comm_time_s(self) -> float: ...

    @property
    def serial_time_s(self) -> float: ...

    @property
    def bottleneck_s(self) -> float: ...

    @property
    def bottleneck_and_mean_s(self) -> float: ...

    @property
    def weighted_sum_bytes(self) -> float: ...

    @property
    def weighted_sum_messages(self) -> float: ...

def evaluate(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> PlacementCost:
    """Costs of a placement; nan where traffic crosses an unmeasured pair."""

def slowest_rank_s(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, demand: DemandArrays, host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Time of the slowest rank, and the mean host's share of all messages."""

def weighted_sum(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], host_of_rank: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Sum of traffic[src, dst] * cost[host of src, host of dst]."""

def scotch_placements(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, num_tries: int, largest_distance: float = 1000.0, is_as_published: bool = False) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
    """Placements by Scotch, one per row, each within the slots."""

def tournament(num_players: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]:
    """Round, lower and higher player of each meeting, shape (N, 3)."""

def scotch_metric_mapping(traffic: RankMatrix, weight: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], seed: int) -> list[int]:
    """
    Core of each task by the complete graph of cores, by one call of Scotch.
    """

def optimize_sum(traffic: RankMatrix, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: SearchLimits) -> list[int]:
    """The placement of the smallest sum found."""

def optimize_sum_on_tree(traffic: RankMatrix, group_of_host: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cost_of_level: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: SearchLimits) -> list[int]:
    """The same on a tree: groups (L, H), costs (L + 2,)."""

def optimize_bottleneck(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], with_mean: bool, limits: SearchLimits) -> list[int]:
    """
    The placement of the smallest bottleneck_s or bottleneck_and_mean_s found.
    """

def optimize_slowest_rank(bytes: RankMatrix, messages: RankMatrix, network: NetworkArrays, demand: DemandArrays, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], limits: SearchLimits) -> list[int]:
    """The placement of the smallest slowest_rank_s found."""

def scotch_tree_placement(traffic: RankMatrix, num_children: Sequence[int], distances: Sequence[int], free_cores: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> list[int]:
    """Core of each rank on a tree of nodes, sockets and cores, by Scotch."""
