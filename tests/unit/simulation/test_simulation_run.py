# SPDX-License-Identifier: Apache-2.0
"""`fl.simulate`: what goes in comes out, every option counts, the same input gives the same."""

from __future__ import annotations

import dataclasses
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead.simulation import PATTERNS, SimulationOptions, simulate_each
from fairlead.simulation.run import OPTION_VALUES

MACHINE = fl.Machine(nodes=3, sockets=2, cores=2)

options = st.builds(
    SimulationOptions,
    **{name: st.sampled_from(known) for name, known in OPTION_VALUES.items()},
    seed=st.integers(0, 3),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[fl.Workload, fl.JobsPlacement]:
    jobs = [
        fl.Job.from_pattern(
            draw(st.sampled_from(list(PATTERNS))),
            draw(st.integers(2, 6)),
            message_bytes=draw(st.sampled_from([1, 3000, 2**21])),
            rate_per_s=draw(st.sampled_from([1.0, 100.0, 30000.0])),
            num_messages=draw(st.integers(1, 30)),
            rate_per=draw(st.sampled_from(["pair", "process"])),
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    workload = fl.Workload("random", jobs, MACHINE)
    order = np.array(draw(st.permutations(range(MACHINE.num_cores))))
    cores = np.split(order[: workload.num_ranks], [jobs[0].num_ranks])[: len(jobs)]
    return workload, fl.JobsPlacement(MACHINE, cores)


def two_nodes(**numbers: float) -> tuple[fl.Workload, fl.JobsPlacement]:
    """Ranks 0 and 1 of node 0 send to ranks 2 and 3 of node 1."""
    machine = fl.Machine(nodes=2, sockets=1, cores=2)
    pairs = np.zeros((4, 4))
    pairs[0, 2] = pairs[1, 3] = numbers.get("messages", 10)
    sent = fl.Traffic(pairs * numbers.get("size", 1000), pairs)
    job = fl.Job.from_traffic(sent, numbers.get("run_time_s", 1.0), "pairs")
    return fl.Workload("two", [job], machine), fl.JobsPlacement(machine, [np.arange(4)])


@pytest.mark.parametrize(("cores", "ratio"), [([0, 1, 4, 5], 2.0), ([0, 1, 2, 3], 1.0)])
def test_a_job_is_as_slow_as_the_slowest_node_that_it_uses(cores: list[int], ratio: float) -> None:
    workload, _ = two_nodes(messages=100)
    like = fl.Machine(nodes=3, sockets=1, cores=2)
    slow = dataclasses.replace(like, node_speeds={2: 0.5})

    usual, slower = (
        fl.simulate(
            fl.Workload("two", workload.jobs, machine),
            fl.JobsPlacement(machine, [np.array(cores)]),
        ).jobs[0]
        for machine in (like, slow)
    )

    # Messages are sent all through the run, which takes 1 s; the last one needs microseconds more.
    assert slower.finish_time_s == pytest.approx(ratio * usual.finish_time_s, rel=0.02)
    assert slower.num_messages == usual.num_messages


@given(case=cases(), options=options)
def test_all_messages_pass_all_their_servers(case, options: SimulationOptions) -> None:
    workload, placement = case
    result = fl.simulate(workload, placement, options)

    assert result.num_messages == workload.num_messages
    assert [job.num_messages for job in result.jobs] == [
        int(job.num_messages.sum()) for job in workload.jobs
    ]
    between_nodes = 0
    for index, job in enumerate(workload.jobs):
        nodes = placement.node_of_rank(index)
        leaves = nodes[job.src] != nodes[job.dst]
        between_nodes += int((job.num_messages * job.message_bytes)[leaves].sum())
    passed = sum(server.bytes for server in result.servers if ".nic." in server.name)
    assert passed == between_nodes * (1 if options.nic == "send_only" else 2)


@given(case=cases(), options=options)
def test_waiting_adds_up_and_no_message_is_early(case, options: SimulationOptions) -> None:
    workload, placement = case
    result = fl.simulate(workload, placement, options)

    by_server = sum(server.waiting_time_s for server in result.servers)
    assert by_server == pytest.approx(result.waiting_time_s, rel=1e-9, abs=1e-12)
    assert result.total_finish_time_s == pytest.approx(
        sum(job.finish_time_s for job in result.jobs)
    )
    assert result.finish_time_s == max(job.finish_time_s for job in result.jobs)
    for server in result.servers:
        # The clock counts whole nanoseconds.
        assert 0 <= server.utilisation_ratio <= 1 + 1e-9
        assert (server.waiting_time_s > 0) == (server.longest_queue > 0)
        assert server.longest_wait_s <= server.waiting_time_s * (1 + 1e-9)
        assert server.longest_queue < max(1, server.num_messages)


@given(case=cases(), options=options)
def test_the_same_input_gives_the_same_result(case, options: SimulationOptions) -> None:
    assert fl.simulate(*case, options) == fl.simulate(*case, options)


@given(case=cases())
def test_cut_through_is_never_later_than_store_and_forward(case) -> None:
    stored, cut = (
        fl.simulate(*case, SimulationOptions(nic="send_only", forwarding=forwarding))
        for forwarding in OPTION_VALUES["forwarding"]
    )
    assert cut.finish_time_s == stored.finish_time_s  # sending is the same, receiving takes none


@pytest.mark.parametrize(
    ("option", "value"),
    [(name, value) for name, known in OPTION_VALUES.items() for value in known[1:]],
)
def test_every_option_changes_the_result(option: str, value: str) -> None:
    workload = fl.Workload.load("Synt_workload_4")
    placement = fl.place_jobs(workload, "cyclic")
    by_default = fl.simulate(workload, placement, scale=0.01)
    changed = fl.simulate(workload, placement, SimulationOptions(**{option: value}), scale=0.01)
    assert changed.waiting_time_s != by_default.waiting_time_s


def test_the_seed_changes_random_arrivals() -> None:
    workload, placement = two_nodes(messages=100, run_time_s=4e-4)  # half loaded
    one, other = (
        fl.simulate(workload, placement, SimulationOptions(arrivals="poisson", seed=seed))
        for seed in (1, 2)
    )
    assert one.waiting_time_s != other.waiting_time_s


@pytest.mark.parametrize(
    "change",
    [
        {"nic_Bps": 2e9},
        {"memory_Bps": 1e9},
        {"remote_memory_ratio": 0.5},
        {"cache_Bps": 1e6},
        {"largest_cache_bytes": 0},
        {"switch_s": 1e-3},
    ],
)
def test_every_figure_of_the_machine_changes_the_result(change: dict[str, float]) -> None:
    machine = fl.Machine(nodes=2, sockets=2, cores=2)
    job = fl.Job.from_pattern("all_to_all", 6, message_bytes=65536, rate_per_s=100, num_messages=1)

    def outcome(machine: fl.Machine) -> tuple[float, ...]:
        workload = fl.Workload("all", [job], machine)
        result = fl.simulate(workload, fl.place_jobs(workload, "blocked"))
        return (result.waiting_time_s, result.finish_time_s)

    assert outcome(machine) != outcome(dataclasses.replace(machine, **change))


def test_two_senders_of_a_node_wait_for_one_another() -> None:
    # Ten times two messages of 1 us at once: each second one waits 1 us for the interface, and
    # arrives at the other side when the first is through.
    result = fl.simulate(*two_nodes())
    assert result.waiting_time_s == pytest.approx(10e-6)
    assert result.finish_time_s == 1.0  # the job computes until then


def test_scale_sends_a_part_at_the_same_rate() -> None:
    whole = fl.simulate(*two_nodes(messages=100))
    part = fl.simulate(*two_nodes(messages=100), scale=0.1)
    assert (part.scale, part.num_messages) == (0.1, 20)
    assert part.waiting_time_s == pytest.approx(whole.waiting_time_s / 10)
    for wrong in (0, -1, 1.5, 1e19, float("nan")):
        with pytest.raises(fl.InputError, match="scale: must be above 0 and at most 1"):
            fl.simulate(*two_nodes(), scale=wrong)


def test_overload_is_reported_by_the_name_of_the_server() -> None:
    # 2 x 1000 messages of 1 us in 1 ms: twice what the interface can do.
    result = fl.simulate(*two_nodes(messages=1000, run_time_s=1e-3))
    assert [server.name for server in result.overloaded] == ["node0.nic.send", "node1.nic.receive"]
    assert result.overloaded[0].offered_ratio == pytest.approx(2.0)
    assert result.as_dict()["overloaded"] == ["node0.nic.send", "node1.nic.receive"]
    assert fl.simulate(*two_nodes()).overloaded == []


def test_a_closed_loop_slows_down_where_an_open_one_is_overloaded() -> None:
    case = two_nodes(messages=1000, run_time_s=1e-3)
    result = fl.simulate(*case, SimulationOptions(loop="closed"))
    assert max(server.offered_ratio for server in result.servers) == pytest.approx(2.0)
    assert max(server.longest_queue for server in result.servers) <= 2  # one of each stream
    assert result.overloaded == []


@pytest.mark.parametrize("num_streams", [7, 9, 11])
def test_a_server_that_is_offered_just_what_it_can_do_is_not_overloaded(num_streams: int) -> None:
    # A message of 1000 bytes takes an interface 1 us, so streams of one in n us fill it exactly.
    machine = fl.Machine(nodes=num_streams + 1, sockets=1, cores=1)
    job = fl.Job.from_pattern(
        "gather", num_streams + 1, message_bytes=1000, rate_per_s=1e6 / num_streams, num_messages=10
    )
    placement = fl.JobsPlacement(machine, [np.arange(num_streams + 1)])
    result = fl.simulate(fl.Workload("full", [job], machine), placement)
    assert max(server.offered_ratio for server in result.servers) == pytest.approx(1, abs=1e-12)
    assert result.overloaded == []


def test_several_placements_at_a_time_give_what_each_gives_alone() -> None:
    workload = fl.Workload.load("Synt_workload_4")
    placements = [fl.place_jobs(workload, method) for method in ("blocked", "cyclic", "spread")]
    progress: list[tuple[int, int]] = []
    together = simulate_each(
        workload, placements, scale=0.01, on_progress=lambda *done: progress.append(done)
    )
    assert together == [fl.simulate(workload, placement, scale=0.01) for placement in placements]


@pytest.mark.parametrize(
    ("method", "waiting_s", "finish_s"),
    [
        ("blocked", 1.01330870654832e8, 603.981873252),
        ("spread", 2.59855842475824e5, 200.543043684),
        ("spread-group", 1.584130548422e6, 226.496610404),
    ],
)
def test_synt_4_gives_the_figures_that_the_results_page_names(
    method: str, waiting_s: float, finish_s: float
) -> None:
    workload = fl.Workload.load("Synt_workload_4")
    result = fl.simulate(workload, fl.place_jobs(workload, method))
    assert result.waiting_time_s == pytest.approx(waiting_s, rel=1e-9)
    assert result.finish_time_s == pytest.approx(finish_s, rel=1e-9)


def test_progress_tells_messages_sent_and_in_all() -> None:
    progress: list[tuple[int, int]] = []
    workload = fl.Workload.load("Synt_workload_3")
    fl.simulate(
        workload,
        fl.place_jobs(workload, "cyclic"),
        scale=0.2,
        on_progress=lambda *done: progress.append(done),
    )
    assert progress[0][0] < progress[-1][0] <= progress[0][1] == progress[-1][1]


def test_an_interruption_ends_all_simulations_soon() -> None:
    workload = fl.Workload.load("Synt_workload_1")
    progress: list[int] = []

    def interrupt(done: int, _total: int) -> None:
        progress.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_each(
            workload, [fl.place_jobs(workload, "cyclic")] * 2, scale=0.5, on_progress=interrupt
        )
    assert max(progress) < workload.num_messages / 2


def test_memory_does_not_grow_with_the_number_of_messages() -> None:
    # Offered a hundred times what it can do, a server that kept its queue would keep 100 MB.
    workload, placement = two_nodes(messages=3_000_000, run_time_s=0.06)
    fl.simulate(workload, placement, scale=0.01)
    before_kB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = fl.simulate(workload, placement)
    assert max(server.longest_queue for server in result.servers) > 5_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kB < 20_000


def test_a_placement_of_other_jobs_is_refused() -> None:
    workload, _ = two_nodes()
    with pytest.raises(fl.ShapeError, match=r"\[3\] ranks in its jobs, the workload \[4\]"):
        fl.simulate(workload, fl.JobsPlacement(workload.machine, [np.arange(3)]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nodes": 4}, "is for 2 nodes of 1 sockets of 2 cores, but the machine has 4 nodes of 1"),
        ({"sockets": 2, "cores": 1}, "but the machine has 2 nodes of 2 sockets of 1 cores"),
        ({"nodes": 2, "cores": 3}, "but the machine has 2 nodes of 1 sockets of 3 cores"),
    ],
)
def test_a_placement_for_another_machine_is_refused(change: dict[str, int], said: str) -> None:
    workload, placement = two_nodes()
    elsewhere = dataclasses.replace(workload.machine, **change)
    with pytest.raises(fl.TopologyError, match=said):
        fl.simulate(fl.Workload("other", workload.jobs, elsewhere), placement)


def test_a_placement_on_cores_that_others_have_is_refused() -> None:
    pair = fl.Job.from_pattern("linear", 2, message_bytes=1, rate_per_s=1, num_messages=1)
    placement = fl.JobsPlacement(MACHINE, [np.array([0, 1]), np.array([3, 2])])
    workload = fl.Workload("two", [pair, pair], dataclasses.replace(MACHINE, taken=(2,)))
    with pytest.raises(fl.TopologyError, match="job 1: rank 1: core 2 is taken"):
        fl.simulate(workload, placement)


def test_a_placement_for_the_same_machine_with_other_rates_is_welcome() -> None:
    workload, placement = two_nodes()
    slower = dataclasses.replace(workload.machine, nic_Bps=1e6)
    slow = fl.simulate(fl.Workload("slow", workload.jobs, slower), placement)
    assert slow.waiting_time_s > fl.simulate(workload, placement).waiting_time_s


def test_unknown_options_are_refused() -> None:
    with pytest.raises(fl.InputError, match="nic: unknown 'both'; there are separate, shared"):
        SimulationOptions(nic="both")
    for seed in (-1, 10**26):
        with pytest.raises(fl.InputError, match=f"seed: must be from 0 to 4294967295, got {seed}"):
            SimulationOptions(seed=seed)


def test_more_messages_than_the_clock_can_tell_are_refused() -> None:
    job = fl.Job.from_pattern("linear", 2, message_bytes=1, rate_per_s=1e-3, num_messages=10**9)
    workload = fl.Workload("long", [job], MACHINE)
    with pytest.raises(fl.InputError, match="146 years"):
        fl.simulate(workload, fl.place_jobs(workload, "blocked"))
