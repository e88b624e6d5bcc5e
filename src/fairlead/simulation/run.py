# SPDX-License-Identifier: Apache-2.0
"""`simulate`: how long the messages of jobs on shared nodes wait, before anything runs."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import numpy as np

from fairlead import _core
from fairlead.narrator import Progress
from fairlead.seed import require_seed
from fairlead.simulation.checks import require_known
from fairlead.simulation.job import Job
from fairlead.simulation.jobs_placement import JobsPlacement
from fairlead.simulation.machine import Machine
from fairlead.simulation.workload import Workload

__all__ = [
    "JobResult",
    "ServerResult",
    "SimulationOptions",
    "SimulationResult",
    "simulate",
    "simulate_each",
    "to_core_machine",
]

_STEP = 500_000
"""Messages between two checks of the clock and for Ctrl-C, about a tenth of a second."""

_FULL_RATIO = 1 + 1e-9
"""Offered load of a server that is just busy all the time: a sum of shares is not exactly 1."""


@dataclasses.dataclass(frozen=True)
class SimulationOptions:
    """How messages pass the machine: what SPREAD leaves open, or contradicts by its own results.

    docs/design/simulator.md has what its text says, and why the defaults are what they are.

    Attributes:
        nic: "separate" servers for sending and receiving, one "shared" by both, or "send_only".
        forwarding: "store_and_forward", or "cut_through": receiving begins with sending.
        arrivals: "periodic" from t = 0, "random_phase", or "poisson".
        loop: "open", or "closed": a stream's next message waits until the one before is there.
        seed: Where random numbers start, 0 to 2**32 - 1.
    """

    nic: str = "separate"
    forwarding: str = "store_and_forward"
    arrivals: str = "periodic"
    loop: str = "open"
    seed: int = 0

    def __post_init__(self) -> None:
        require_known(self, OPTION_VALUES)
        require_seed(self.seed)


OPTION_VALUES: dict[str, tuple[str, ...]] = {
    "nic": ("separate", "shared", "send_only"),
    "forwarding": ("store_and_forward", "cut_through"),
    "arrivals": ("periodic", "random_phase", "poisson"),
    "loop": ("open", "closed"),
}
"""What each option may be, its default first."""


@dataclasses.dataclass(frozen=True)
class ServerResult:
    """What one server did.

    Attributes:
        name: For example "node3.nic.send".
        num_messages: Messages served.
        bytes: Their bytes.
        waiting_time_s: Sum of the times that they waited.
        longest_wait_s: Longest wait of one message.
        longest_queue: Most messages that waited at a time; above 4096 up to 0.1 % too high.
        utilisation_ratio: Part of the workload's time in which it was busy.
        offered_ratio: Service time asked for per time, by the streams' rates; above 1 the queue
            grows for as long as messages come, or, in a closed loop, streams fall behind their
            rates.
    """

    name: str
    num_messages: int
    bytes: int
    waiting_time_s: float
    longest_wait_s: float
    longest_queue: int
    utilisation_ratio: float
    offered_ratio: float


@dataclasses.dataclass(frozen=True)
class JobResult:
    """Result of one job: its messages, the sum of their waiting times, and its end."""

    name: str
    num_messages: int
    waiting_time_s: float
    finish_time_s: float


@dataclasses.dataclass(frozen=True)
class SimulationResult:
    """Result of a placement of a workload.

    Attributes:
        workload, method: Names of both.
        scale: Part of the messages that was simulated.
        num_messages: Messages simulated.
        waiting_time_s: Sum of all waiting times at network interfaces and memories.
        finish_time_s: End of the last job.
        total_finish_time_s: Sum of the ends of all jobs.
        jobs: In their order.
        servers: All network interfaces and memories.
        options: Options of the simulation.
        machine: The machine with its rates.
        rate_per: Whether rates and counts of patterns are per pair or per process; see `Workload`.
    """

    workload: str
    method: str
    scale: float
    num_messages: int
    waiting_time_s: float
    finish_time_s: float
    total_finish_time_s: float
    jobs: tuple[JobResult, ...]
    servers: tuple[ServerResult, ...]
    options: SimulationOptions
    machine: Machine
    rate_per: str | None

    @property
    def overloaded(self) -> list[ServerResult]:
        """Servers with an offered load above their rate, the worst first.

        Their queues grow as long as messages come, so waiting times grow with the square of the
        numbers of messages, and say more about these than about the placement. In a closed loop
        there are none: a stream waits for its last message, so no queue grows.
        """
        if self.options.loop == "closed":
            return []
        over = [server for server in self.servers if server.offered_ratio > _FULL_RATIO]
        return sorted(over, key=lambda server: -server.offered_ratio)

    def as_dict(self) -> dict[str, Any]:
        """The result by its names, JSON-serialisable; servers without messages are left out."""
        result = dataclasses.asdict(self)
        result["servers"] = [server for server in result["servers"] if server["num_messages"]]
        result["overloaded"] = [server.name for server in self.overloaded]
        return result


def simulate(
    workload: Workload,
    placement: JobsPlacement,
    options: SimulationOptions | None = None,
    *,
    scale: float = 1.0,
    on_progress: Progress | None = None,
) -> SimulationResult:
    """Simulate every message of every job.

    Integer nanoseconds and a fixed order of events: the same input gives the same result.

    Args:
        workload: The jobs, and the machine they share.
        placement: A core for each rank of each job.
        options: How messages pass the machine; the defaults give the order of
            methods of SPREAD's figure 2.
        scale: Part of the messages to simulate, at most 1, at the same rates.
        on_progress: Called with the messages sent and the messages in all.

    Raises:
        ShapeError: The placement has other jobs or ranks than the workload.
        TopologyError: It was made for a machine of other nodes, sockets or cores, or uses cores
            that are taken on the workload's.
        InputError: The scale is not above 0 and at most 1, or the time would pass the clock's end.
    """
    options = options or SimulationOptions()
    scaled = workload.scaled(scale)
    simulator = _simulator(scaled, placement, options)
    is_running = True
    while is_running:
        is_running = simulator.advance(_STEP)
        if on_progress is not None:
            on_progress(simulator.num_sent(), simulator.num_messages())
    return _result(scaled, placement, options, scale, simulator)


def simulate_each(
    workload: Workload,
    placements: Iterable[JobsPlacement],
    options: SimulationOptions | None = None,
    *,
    scale: float = 1.0,
    on_progress: Progress | None = None,
) -> list[SimulationResult]:
    """Simulate several placements of a workload at the same time; see `simulate`."""
    placements = list(placements)
    sent = [0] * len(placements)
    is_stopped = threading.Event()

    def one(index: int) -> SimulationResult:
        def count(done: int, total: int) -> None:
            if is_stopped.is_set():
                raise CancelledError
            sent[index] = done
            if on_progress is not None:
                on_progress(sum(sent), total * len(placements))

        return simulate(workload, placements[index], options, scale=scale, on_progress=count)

    # Threads are enough: the compiled core releases Python's lock while it simulates.
    with ThreadPoolExecutor() as pool:
        try:
            return list(pool.map(one, range(len(placements))))
        except BaseException:  # Ctrl-C too: leaving the pool waits for all that still run.
            is_stopped.set()
            raise


def to_core_machine(machine: Machine) -> _core.SimulatedMachine:
    """The machine in the compiled core's form."""
    return _core.SimulatedMachine(
        num_nodes=machine.nodes,
        sockets_per_node=machine.sockets,
        cores_per_socket=machine.cores,
        nic_Bps=machine.nic_Bps,
        memory_Bps=machine.memory_Bps,
        remote_memory_ratio=machine.remote_memory_ratio,
        cache_Bps=machine.cache_Bps,
        largest_cache_bytes=machine.largest_cache_bytes,
        switch_ns=round(machine.switch_s * 1e9),
    )


def _simulator(
    workload: Workload, placement: JobsPlacement, options: SimulationOptions
) -> _core.Simulator:
    placement.require_fits(workload)
    streams = [
        _streams(
            index,
            job,
            placement.core_of_rank[index],
            workload.machine.slowest_speed(placement.core_of_rank[index]),
        )
        for index, job in enumerate(workload.jobs)
    ]
    return _core.Simulator(
        to_core_machine(workload.machine),
        np.concatenate([integers for integers, _ in streams]),
        np.concatenate([times_ns for _, times_ns in streams]),
        len(workload.jobs),
        nic=_core.Nic[options.nic],
        forwarding=_core.Forwarding[options.forwarding],
        arrivals=_core.Arrivals[options.arrivals],
        is_closed_loop=options.loop == "closed",
        seed=options.seed,
    )


def _streams(
    index: int, job: Job, core_of_rank: np.ndarray[Any, np.dtype[np.int64]], speed: float
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.float64]]]:
    integers = np.column_stack(
        [
            np.full(len(job.src), index, dtype=np.int64),
            core_of_rank[job.src],
            core_of_rank[job.dst],
            job.message_bytes,
            job.num_messages,
        ]
    )
    # The slowest rank decides each step, after which all send.
    times_ns = np.column_stack([1e9 / (job.rate_per_s * speed), job.first_s * 1e9])
    return np.ascontiguousarray(integers), np.ascontiguousarray(times_ns)


def _result(
    workload: Workload,
    placement: JobsPlacement,
    options: SimulationOptions,
    scale: float,
    simulator: _core.Simulator,
) -> SimulationResult:
    jobs = tuple(
        JobResult(
            name=job.name,
            num_messages=outcome.num_messages,
            waiting_time_s=outcome.waiting_s,
            # A recorded job computes until its end, independent of its messages.
            finish_time_s=max(
                outcome.finish_ns / 1e9, job.run_time_s / workload.machine.slowest_speed(cores)
            ),
        )
        for job, outcome, cores in zip(
            workload.jobs, simulator.jobs(), placement.core_of_rank, strict=True
        )
    )
    finish_time_s = max(job.finish_time_s for job in jobs)
    servers = tuple(
        ServerResult(
            name=name,
            num_messages=load.num_messages,
            bytes=load.bytes,
            waiting_time_s=load.waiting_s,
            longest_wait_s=load.longest_wait_ns / 1e9,
            longest_queue=load.longest_queue,
            utilisation_ratio=load.busy_ns / 1e9 / finish_time_s if finish_time_s > 0 else 0.0,
            offered_ratio=load.offered_ratio,
        )
        for name, load in zip(workload.machine.server_names(), simulator.servers(), strict=True)
        if not name.endswith(".cache")
    )
    return SimulationResult(
        workload=workload.name,
        method=placement.method,
        scale=scale,
        num_messages=simulator.num_sent(),
        waiting_time_s=sum(job.waiting_time_s for job in jobs),
        finish_time_s=finish_time_s,
        total_finish_time_s=sum(job.finish_time_s for job in jobs),
        jobs=jobs,
        servers=servers,
        options=options,
        machine=workload.machine,
        rate_per=workload.rate_per,
    )
