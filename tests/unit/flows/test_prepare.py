# SPDX-License-Identifier: Apache-2.0
"""What is refused before anything runs; which network a run gets, and which hosts it leaves out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prepare_world import World, network

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.errors import TracedRunEndedError
from fairlead.flows.inputs.interruption import NextRunUndecided
from fairlead.flows.inputs.prepare import Steps
from fairlead.flows.inputs.tracing import TRACE_NOW
from fairlead.flows.request import (
    CollectivesRequest,
    LauncherRequest,
    NetworkRequest,
    find_hosts,
)
from fairlead.measure.trace import TracedRun
from fairlead.model.coverage import Coverage
from fairlead.watch.concurrent_runs import announce_run
from fairlead.watch.history import History
from fairlead.watch.history_store import recall
from fairlead.watch.past_runs import load_steps, past_runs


def without_b() -> fl.Network:
    pairs = [(1, 0), (1, 2), (0, 1), (2, 1)]
    return network(*pairs, unreachable={"b": "no answer within 10 s"})


def test_launcher_arguments_that_overrule_are_refused_first(world: World) -> None:
    with pytest.raises(fl.LaunchError, match="overrules the hosts and the number of ranks"):
        world.prepare(launcher=LauncherRequest(arguments=("-H", "node")))
    assert world.probes == 0
    assert not (world.folder / "state").exists()


def test_a_program_that_is_not_there_is_refused_first(world: World) -> None:
    with pytest.raises(fl.TraceError, match=r"\./nosuch: no such program; nothing was started"):
        world.prepare("./nosuch", traffic=None)
    assert world.probes == 0


@pytest.mark.parametrize(
    ("traffic", "problem"), [("missing", "missing.traffic.npz"), ("two", "is for 2 ranks, but")]
)
def test_traffic_that_does_not_serve_is_refused_first(
    world: World, traffic: str, problem: str
) -> None:
    with pytest.raises(fl.InputError, match=problem):
        world.prepare(traffic=world.folder / f"{traffic}.traffic.npz", num_ranks=3)
    assert world.probes == 0
    assert not (world.folder / "state").exists()


def test_slots_of_bare_names_are_those_of_the_launcher_to_the_end(world: World) -> None:
    session, _ = world.prepare(num_ranks=2)

    assert session.cluster.slots == (1, 1, 1)
    assert session.cluster.bare_hosts == frozenset()
    assert session.launchers.host_names() == ["a", "b"]


def test_a_kept_network_saves_the_probe(world: World) -> None:
    world.prepare()
    world.prepare()
    assert world.probes == 1


def test_what_another_run_disturbs_is_measured_for_this_run_alone(world: World) -> None:
    def check(*_arguments: Any) -> Any:
        raise AssertionError("what the other run sends would be taken for a change of the network")

    world.steps = dataclasses.replace(world.steps, check=check)
    with announce_run(["a"], "own") as own, announce_run(["a"], "other"):
        world.prepare(alongside=own)
        world.prepare(alongside=own)
        assert world.probes == 2

    world.prepare()
    assert world.probes == 3
    with announce_run(["a"], "own") as own, announce_run(["a"], "other"):
        world.prepare(alongside=own)
    assert world.probes == 3


def test_a_cache_that_cannot_be_written_is_only_a_warning(world: World) -> None:
    (world.folder / "cache").write_text("a file, not a folder")
    session, lines = world.prepare()
    assert session.cluster.hosts == ("a", "b", "c")
    assert (
        f"network: not cached for later runs: {world.folder}/cache/fairlead/networks: " in lines[-1]
    )


def test_a_dead_host_is_left_out_only_on_request(world: World) -> None:
    world.found = without_b()
    for _ in range(2):
        session, lines = world.prepare(network=NetworkRequest(skip_unreachable=True))
        assert session.cluster.hosts == ("a", "c")
        assert "network: host 'b' is left out: no answer within 10 s" in lines
    assert world.probes == 1

    world.found = network()
    assert world.prepare()[0].cluster.hosts == ("a", "b", "c")


def test_a_file_without_a_dead_host_is_refused_or_named(world: World) -> None:
    file = world.folder / "old.net.npz"
    without_b().save(file)
    with pytest.raises(fl.TopologyError, match=r"old.net.npz: measured without host 'b' \(no ans"):
        world.prepare(network=NetworkRequest(str(file)))

    session, lines = world.prepare(network=NetworkRequest(str(file), skip_unreachable=True))
    assert session.cluster.hosts == ("a", "c")
    assert "network: host 'b' is left out: no answer within 10 s" in lines


def test_ranks_that_do_not_fit_the_hosts_that_are_left_are_refused(world: World) -> None:
    heavy = world.folder / "three.traffic.npz"
    fl.Traffic(bytes=np.eye(3), messages=np.eye(3), run_time_s=1.0).save(heavy)
    world.found = without_b()
    with pytest.raises(fl.TopologyError, match="2 slots"):
        world.prepare(network=NetworkRequest(skip_unreachable=True), num_ranks=3, traffic=heavy)


@pytest.mark.parametrize(
    "cut_short",
    [network((0, 2)), network(flows=fl.FlowsSummary(is_complete=False, error="stopped"))],
    ids=["pairs", "contention"],
)
def test_a_network_cut_short_is_not_kept(world: World, cut_short: fl.Network) -> None:
    world.found = cut_short
    try:
        world.prepare(network=NetworkRequest(budget_s=0.1))
    except fl.TopologyError as error:
        assert "a -> c was not measured" in str(error)
    world.found = network()
    world.prepare()
    assert world.probes == 2


def slow_traffic(world: World) -> Path:
    """100 MB from the first to the last rank in a run of 0.1 s: 1 s at the rates of `network`."""
    file = world.folder / "heavy.traffic.npz"
    sent = np.array([[0.0, 1e8], [0.0, 0.0]])
    fl.Traffic(bytes=sent, messages=sent > 0, run_time_s=0.1).save(file)
    return file


def test_an_implausible_network_is_named_and_measured_anew(world: World) -> None:
    world.prepare()
    assert world.probes == 1
    _, lines = world.prepare(traffic=slow_traffic(world))
    assert world.probes == 2
    assert any("by these rates the program's messages take 1 s" in line for line in lines)


def test_one_that_was_measured_just_now_is_measured_once_more(world: World) -> None:
    _, lines = world.prepare(traffic=slow_traffic(world))
    assert world.probes == 2
    assert any("measured on a busy machine?" in line for line in lines)


def test_an_implausible_file_is_named_and_taken_as_it_is(world: World) -> None:
    file = world.folder / "given.net.npz"
    network().save(file)
    _, lines = world.prepare(traffic=slow_traffic(world), network=NetworkRequest(str(file)))
    assert world.probes == 0
    assert any("measured on a busy machine?" in line for line in lines)


def test_no_hostfile_and_no_allocation_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    with pytest.raises(fl.InputError, match="--hostfile FILE"):
        find_hosts(None)


def test_a_first_run_that_has_ended_well_ends_well_whatever_is_measured_then(
    world: World,
) -> None:
    traffic = fl.Traffic(bytes=np.eye(2), messages=np.eye(2))

    def measure(*_arguments: Any, **_options: Any) -> Any:
        raise fl.ProbeError("the hosts do not answer any more")

    traced = TracedRun(traffic, 3.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced, probe=measure)

    with pytest.raises(SystemExit) as ended:
        world.prepare(traffic=None, first="auto")

    assert ended.value.code == 0
    (run,) = past_runs()
    assert run.exit_code == 0
    why = "the hosts do not answer any more"
    assert f"the program has ended well; nothing is decided for the next run: {why}" in (
        world.narrator.lines
    )
    end = load_steps(run.folder)["end"]
    assert (end["seconds"], end["undecided"]) == (3.0, why)
    # It is a run like any other in the history.
    (kept,) = (world.folder / "state" / "fairlead" / "history").glob("*.json")
    assert len(recall(kept, History.load(kept)).runs) == 1


def test_nothing_is_measured_for_a_next_run_that_would_be_traced_again(world: World) -> None:
    """Where the cache cannot be written the traffic is not known in the next run either."""
    traced = TracedRun(fl.Traffic(bytes=np.eye(2), messages=np.eye(2)), 3.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced)
    (world.folder / "cache").write_text("no folder")

    with pytest.raises(NextRunUndecided):
        world.prepare(traffic=None, first="auto")

    assert world.probes == 0
    why, last = world.narrator.lines[-2:]
    assert why.startswith("traffic: not cached for later runs: ")
    assert last == (
        "the program has ended well; nothing is decided for the next run: its traffic cannot be "
        "kept, and each run is traced anew; --first twice traces and places in one call"
    )
    world.prepare(traffic=None, first="twice")
    assert world.probes == 1


def test_a_first_run_with_a_part_of_a_kept_trace_ends_well(world: World) -> None:
    """The next run is placed by the whole one, and not traced again."""
    whole = fl.Traffic(bytes=np.eye(2), messages=np.eye(2))
    part = {"how": "traced", "partial": Coverage(2, (), 30.0, 31.0).facts()}
    traces = [whole, dataclasses.replace(whole, origin=part)]
    world.steps = dataclasses.replace(
        world.steps, trace=lambda *_, **__: TracedRun(traces.pop(0), 3.0)
    )

    world.prepare(traffic=None, first="auto")
    world.prepare(traffic=TRACE_NOW, first="auto")

    assert world.probes >= 1
    assert not any("nothing is decided" in line for line in world.narrator.lines)


def test_a_traced_run_before_the_run_itself_is_no_result(world: World) -> None:
    def measure(*_arguments: Any, **_options: Any) -> Any:
        raise fl.ProbeError("the hosts do not answer any more")

    traced = TracedRun(fl.Traffic(bytes=np.eye(2), messages=np.eye(2)), 3.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced, probe=measure)

    with pytest.raises(fl.ProbeError):
        world.prepare(traffic=None, first="twice")


def test_a_first_run_without_a_trace_ends_well_and_measures_nothing(world: World) -> None:
    def trace(*_arguments: Any, **_options: Any) -> Any:
        error = fl.NoTraceError("true: the traced run left no trace: it is no MPI program")
        error.seconds = 2.0
        raise error

    world.steps = dataclasses.replace(world.steps, trace=trace)

    with pytest.raises(SystemExit) as ended:
        world.prepare(traffic=None, first="auto")

    assert ended.value.code == 0
    assert world.probes == 0
    (run,) = past_runs()
    assert (run.exit_code, run.measured_s) == (0, 2.0)
    (line,) = [line for line in world.narrator.lines if "left no trace" in line]
    assert line.startswith("the program has ended well; nothing is decided for the next run: ")


@pytest.mark.parametrize(("first", "code"), [("auto", 0), ("twice", 143)])
def test_a_program_that_ends_well_after_a_signal_has_ended_well_only_if_it_was_the_run(
    world: World, first: str, code: int
) -> None:
    def trace(*_arguments: Any, **_options: Any) -> Any:
        error = TracedRunEndedError("ended with exit code 0 after SIGTERM", 0)
        error.seconds, error.signal = 2.0, 15
        raise error

    world.steps = dataclasses.replace(world.steps, trace=trace)

    with pytest.raises(SystemExit) as ended:
        world.prepare(traffic=None, first=first)

    assert ended.value.code == code
    (run,) = past_runs()
    assert load_steps(run.folder)["end"]["signal"] == 15


def test_what_a_first_run_does_without_is_named(world: World) -> None:
    traced = TracedRun(fl.Traffic(bytes=np.eye(2), messages=np.eye(2)), 3.0)
    world.steps = dataclasses.replace(world.steps, trace=lambda *_, **__: traced)
    plan = CollectivesRequest(plan=world.folder)

    _, lines = world.prepare(traffic=None, first="auto", collectives=plan)

    assert "--plan has no effect in this traced run, only in the next one" in lines


def test_a_run_with_levers_says_nothing_against_the_rates(world: World) -> None:
    """With relays the messages may take less than by the rates of the direct paths."""
    world.prepare()
    traffic = fl.Traffic.load(slow_traffic(world))
    file = world.folder / "relayed.traffic.npz"
    dataclasses.replace(traffic, origin={"has_levers": True}).save(file)

    world.prepare(traffic=file)

    assert world.probes == 1


def test_a_crash_in_the_traced_run_is_the_end_of_the_run(world: World) -> None:
    def crash(*_arguments: Any, **_options: Any) -> Any:
        raise fl.TraceError("true: failed in the traced run with exit code 7", 7)

    world.steps = dataclasses.replace(world.steps, trace=crash)
    with pytest.raises(fl.TraceError):
        world.prepare(traffic=None)
    (run,) = past_runs()
    assert run.exit_code == 7
    assert load_steps(run.folder)["end"]["failure"].endswith("exit code 7")


@pytest.mark.parametrize(
    ("how", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143), (RuntimeError(), 1)]
)
def test_whatever_ends_the_preparations_is_the_end_of_the_run(
    world: World, how: BaseException, code: int
) -> None:
    def end(*_arguments: Any, **_options: Any) -> Any:
        raise how

    world.steps = dataclasses.replace(world.steps, probe=end)
    # Ctrl-C was reported in one line, so that the command only has to end.
    with pytest.raises(RuntimeError if code == 1 else SystemExit):
        world.prepare()
    assert [run.exit_code for run in past_runs()] == [code]


@pytest.mark.parametrize(
    ("step", "line"),
    [
        ("unreachable_hosts", "SIGINT interrupted looking for the hosts; nothing is kept; "),
        ("trace", "SIGINT interrupted the traced run; nothing is kept; "),
        ("probe", "SIGINT interrupted measuring the network; "
         "kept for the next run: the traffic of the program; "),
    ],
)  # fmt: skip
def test_ctrl_c_is_reported_with_what_it_interrupted_and_what_is_kept(
    world: World, step: str, line: str
) -> None:
    def end(*_arguments: Any, **_options: Any) -> Any:
        raise KeyboardInterrupt

    world.steps = dataclasses.replace(world.steps, **{step: end})
    with pytest.raises(SystemExit) as caught:
        world.prepare(**({"traffic": None} if step == "trace" else {}))

    (run,) = past_runs()
    assert caught.value.code == 130
    assert world.narrator.lines[-1] == f"{line}the record of this run: {run.folder}"


def test_an_mpi_without_build_is_named_before_anything_starts(world: World) -> None:
    def missing(_launcher: Launcher) -> Any:
        raise fl.LaunchError("Fairlead is not built for Open MPI 5.0.11")

    def never(*_arguments: Any, **_options: Any) -> Any:
        pytest.fail("was started")

    world.steps = Steps(unreachable_hosts=never, probe=never, trace=never, find=missing)
    with pytest.raises(fl.LaunchError, match="not built"):
        world.prepare()
    assert (past_runs(), world.narrator.lines) == ([], [])
