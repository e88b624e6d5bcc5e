# SPDX-License-Identifier: Apache-2.0
"""Several jobs on the command line: their files, where they go, and what they would wait for."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from fairlead.act.launch import FORMATS
from fairlead.cli.output import print_json, progress, stderr, stdout
from fairlead.cli.simulation_view import busiest, described, result_table, warn_of_overload
from fairlead.decide.jobs import MappedJobs, SharedHosts, map_jobs, parse_taken
from fairlead.flows.run_jobs import JobsRequest, run_jobs
from fairlead.model.cluster import Cluster
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator
from fairlead.simulation import Job
from fairlead.units import format_duration


def mapped_jobs(
    files: Sequence[Path],
    cluster: Cluster,
    method: str,
    *,
    taken: Sequence[str],
    machine: Path | None,
    seed: int,
    scale: float | None,
    time_limit_s: float | None,
) -> MappedJobs:
    """Jobs from their traces, placed together on the cluster.

    Raises:
        Error: A file cannot be read, the jobs do not fit, or a value is wrong.
    """
    hosts = SharedHosts.of(cluster, parse_taken(taken), machine)
    traffics = {file: Traffic.load(file) for file in files}
    jobs = [
        Job.from_traffic(traffics[file], traffics[file].run_time_s, _name(file)) for file in files
    ]
    with progress("placing and simulating") as on_progress:
        return map_jobs(
            jobs,
            hosts,
            method,
            seed=seed,
            scale=scale,
            time_limit_s=time_limit_s,
            on_progress=on_progress,
        )


def _name(file: Path) -> str:
    return file.name.removesuffix(".traffic.npz")


def tell_jobs(mapped: MappedJobs, files: Sequence[Path], *, as_json: bool) -> None:
    """Print what the simulator expects, and either the launchers' files or the hosts' ranks."""
    if as_json:
        print_json(mapped.as_dict() | {"files": [str(file) for file in files]})
        return
    prediction = mapped.prediction
    stdout.print(jobs_table(mapped))
    stdout.print(result_table([prediction]))
    for line in (busiest(prediction), described(prediction)):
        stdout.print(line, highlight=False, soft_wrap=True, markup=False)
    for line in usage_lines(mapped, files) if files else host_lines(mapped):
        stdout.print(line, highlight=False, soft_wrap=True, markup=False)
    warn_of_overload(prediction)


def jobs_table(mapped: MappedJobs) -> Table:
    """A row for each job: on how many hosts it is, how long it waits, when it is done."""
    table = Table("job", "ranks", "hosts", "waiting", "finish", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for placement, result in zip(mapped.placements, mapped.prediction.jobs, strict=True):
        table.add_row(
            result.name,
            str(placement.num_ranks),
            str(len(set(placement.host_names()))),
            format_duration(result.waiting_time_s),
            format_duration(result.finish_time_s),
        )
    return table


def host_lines(mapped: MappedJobs) -> list[str]:
    """One line for each host with the ranks of each job on it."""
    lines = []
    for host in mapped.hosts.cluster.hosts:
        parts = [
            f"{job.name} {' '.join(map(str, placement.ranks_on(host)))}"
            for job, placement in zip(mapped.workload.jobs, mapped.placements, strict=True)
            if placement.ranks_on(host)
        ]
        lines.append(f"{host}: {'; '.join(parts) or '-'}")
    return lines


def usage_lines(mapped: MappedJobs, files: Sequence[Path]) -> list[str]:
    """How to start each job from its file."""
    return [
        f"{job.name}: {FORMATS[file.suffix.removeprefix('.')].usage(str(file), job.num_ranks)}"
        for job, file in zip(mapped.workload.jobs, files, strict=True)
    ]


def start_jobs(request: JobsRequest, narrator: Narrator, *, as_json: bool) -> int:
    """Place and start several programs; the exit code of the one that failed first."""
    names: list[str] = []

    def announce(mapped: MappedJobs) -> None:
        names.extend(job.name for job in mapped.workload.jobs)
        if as_json:
            stderr.print(json.dumps(mapped.as_dict()), soft_wrap=True, markup=False)
        narrator.tell(expectation(mapped))

    return run_jobs(request, narrator, announce, Prefixed(names))


def expectation(mapped: MappedJobs) -> str:
    """What the simulator says of the choice, in one line."""
    prediction = mapped.prediction
    jobs = ", ".join(
        f"{result.name} by {format_duration(result.finish_time_s)}" for result in prediction.jobs
    )
    return (
        f"{prediction.method}: messages should wait {format_duration(prediction.waiting_time_s)} "
        f"in all, jobs be done: {jobs} (scale {prediction.scale:g})"
    )


class Prefixed:
    """Passes lines on, each with the name of its job before it and whole."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._one_at_a_time = threading.Lock()

    def __call__(self, index: int, stream: str, line: bytes) -> None:
        """Write one line of the job to the stream of the same name."""
        text = b"[%s] %s" % (self._names[index].encode(), line.removesuffix(b"\n") + b"\n")
        with self._one_at_a_time:
            # Not through Python's buffers: it would complain at its end where nobody reads them.
            descriptor = 1 if stream == "stdout" else 2
            while text:
                text = text[os.write(descriptor, text) :]
