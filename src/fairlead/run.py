# SPDX-License-Identifier: Apache-2.0
"""`fairlead run`: measure, trace, map, then start the program by the user's launcher."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from fairlead import launch, mpi_builds, run_directory
from fairlead.errors import Error, InputError
from fairlead.expectation import Gain, expected_gain
from fairlead.launch import Job
from fairlead.mapping import COST_OF_OBJECTIVE, require_method
from fairlead.narrator import Narrator
from fairlead.placement import Placement
from fairlead.plan import mean_message_bytes, write_reorder_plan
from fairlead.preload import preloaded
from fairlead.preparation import Prepared, Request, placed, prepare
from fairlead.units import format_duration


@dataclasses.dataclass(frozen=True)
class Decision:
    """Which placement the program gets, and why.

    Attributes:
        placement: The placement; None keeps the launcher's own.
        gain: What the chosen method is expected to save against the launcher's placement.
        line: The decision in one line for the user.
        directory: Folder of the run's record.
    """

    placement: Placement | None
    gain: Gain
    line: str
    directory: Path


def run(
    request: Request, method: str, narrator: Narrator, announce: Callable[[Decision], None]
) -> int:
    """Run the program on the placement that the method finds.

    Args:
        request: What the user asked for.
        method: Mapping method, one of `fairlead.mapping.METHODS`.
        narrator: Tells the user of each step that takes time.
        announce: Receives the decision before the program starts.

    Returns:
        The exit code of the launcher.

    Raises:
        Error: The network, the traffic or the placement could not be had; nothing was started.
    """
    require_method(method)
    prepared = prepare(request, narrator)
    decision = decide(prepared, request, method)
    announce(decision)
    return start(prepared, request, decision, narrator)


def decide(prepared: Prepared, request: Request, method: str) -> Decision:
    """Choose between the method's placement and the launcher's own."""
    started = time.monotonic()
    traffic, network = prepared.traffic, prepared.network
    chosen = placed(prepared, request, method)
    map_s = time.monotonic() - started
    baseline = placed(prepared, request, "launcher")
    cost = COST_OF_OBJECTIVE[request.objective]
    gain = expected_gain(chosen, baseline, traffic, network, request.seed, cost=cost)
    keep = method == "launcher" or not gain.is_beyond_noise
    line = _line(prepared, gain, cost, method, map_s)
    decision = Decision(None if keep else chosen, gain, line, prepared.directory.path)
    (baseline if keep else chosen).save(prepared.directory.file(run_directory.PLACEMENT))
    prepared.directory.note(
        "decision",
        {
            "method": method,
            "kept_launcher_placement": keep,
            "gain": dataclasses.asdict(gain),
            "line": decision.line,
        },
    )
    return decision


def start(prepared: Prepared, request: Request, decision: Decision, narrator: Narrator) -> int:
    """Start the program and wait for it; its output, signals and exit code are its own."""
    job = Job(
        request.program,
        request.num_ranks,
        prepared.cluster,
        decision.placement,
        reordering(prepared, narrator) if request.reorder else {},
        launcher_args=request.launcher_args,
    )
    command = prepared.launcher.command(job, prepared.directory.path)
    prepared.directory.note("start", {"launcher_command": command})
    with prepared.stdin.opened(last=True) as stdin:
        finished = launch.run(command, stdin=stdin)
    end = {"exit_code": finished.returncode, "seconds": finished.seconds}
    try:
        prepared.directory.note("end", end)
    except InputError as error:  # The program has run; its exit code is what the user waits for.
        narrator.tell(f"the end of this run is not recorded: {error}")
    return finished.returncode


def reordering(prepared: Prepared, narrator: Narrator) -> dict[str, str]:
    """Variables by which topologies are placed; none, and one line, where that cannot be had."""
    folder = prepared.directory.file(run_directory.PLAN)
    try:
        library = mpi_builds.find(prepared.launcher).intercept
        write_reorder_plan(folder, prepared.network, mean_message_bytes(prepared.traffic))
    except Error as error:
        narrator.tell(f"topologies keep the order of their ranks: {error}")
        return {}
    return preloaded({}, library, FAIRLEAD_PLAN=str(folder.absolute()))


def _line(prepared: Prepared, gain: Gain, cost: str, method: str, map_s: float) -> str:
    spent = (
        f"measuring cost {format_duration(prepared.probe_s)} (network), "
        f"{format_duration(prepared.trace_s)} (traffic), {format_duration(map_s)} (mapping)"
    )
    saved = f"{gain.ratio:.1%} of {cost} ({gain.low_ratio:.1%} to {gain.high_ratio:.1%})"
    if method == "launcher":
        return f"the launcher's placement was asked for; {spent}"
    if gain.is_beyond_noise:
        return f"{method} should save {saved}; {spent}"
    return (
        f"{method} would save {saved}, which is inside the measurement's noise: the launcher's "
        f"placement is kept; {spent}"
    )
