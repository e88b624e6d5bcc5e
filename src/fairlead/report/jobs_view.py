# SPDX-License-Identifier: Apache-2.0
"""Several jobs placed together, in the terminal, on the page, and as facts for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from fairlead.act.launch import FORMATS
from fairlead.decide.jobs import MappedJobs
from fairlead.report.placement_view import rank_ranges
from fairlead.report.simulation_view import busiest, describe
from fairlead.report.terminal_table import table
from fairlead.simulation import JobsRecord
from fairlead.units import format_duration

COLUMNS = ("job", "ranks", "hosts", "waiting", "finish")


def facts(record: JobsRecord) -> dict[str, Any]:
    """Everything `view` shows, as plain values."""
    return {
        "kind": record.kind,
        "method": record.method,
        "taken": {host: list(slots) for host, slots in record.taken.items()},
        "jobs": [
            {
                "name": job.name,
                "num_ranks": job.num_ranks,
                "waiting_time_s": predicted.waiting_time_s,
                "finish_time_s": predicted.finish_time_s,
                "ranks_of_host": {host: placement.ranks_on(host) for host in record.hosts},
            }
            for job, placement, predicted in zip(
                record.jobs, record.placements(), record.prediction.jobs, strict=True
            )
        ],
        "prediction": {
            field: getattr(record.prediction, field)
            for field in ("scale", "num_messages", "waiting_time_s", "finish_time_s")
        },
    }


def view(record: JobsRecord, width: int, *, has_files: bool = False) -> RenderableType:
    """The placement for a terminal of `width` columns; launchers' files replace its ranks."""
    jobs = table(COLUMNS)
    for row in rows(record):
        jobs.add_row(*map(Text, row))
    head = Group(*map(Text, announcement_lines(record)), Text(), jobs)
    if has_files:
        return head
    hosts = table(("host", "ranks"), texts=("host", "ranks"), width=width)
    for host, text in ranks_of_hosts(record):
        hosts.add_row(Text(host), Text(text))
    return Group(head, Text(), hosts)


def announcement_lines(record: JobsRecord) -> list[str]:
    """The placement and its prediction."""
    return [title(record), prediction_line(record)]


def facts_of_mapping(mapped: MappedJobs, files: Sequence[Path]) -> dict[str, Any]:
    """Jobs that were just placed with everything that the simulator found, and their files."""
    return mapped.as_dict() | {"files": [str(file) for file in files]}


def lines_of_mapping(mapped: MappedJobs, files: Sequence[Path]) -> list[str]:
    """The longest queue, what was simulated, and how to start each job from its file."""
    usage = [
        f"{job.name}: {FORMATS[file.suffix.removeprefix('.')].usage(str(file), job.num_ranks)}"
        for job, file in zip(mapped.workload.jobs, files, strict=False)
    ]
    return [busiest(mapped.prediction), describe(mapped.prediction), *usage]


def title(record: JobsRecord) -> str:
    """The heading, in one line."""
    return f"Placement of {len(record.jobs)} jobs on {len(record.hosts)} hosts by {record.method}"


def prediction_line(record: JobsRecord) -> str:
    """The simulator's prediction, in one sentence."""
    prediction = record.prediction
    return (
        f"In the simulator messages wait {format_duration(prediction.waiting_time_s)} in all, and "
        f"the last job ends after {format_duration(prediction.finish_time_s)} "
        f"({prediction.num_messages} messages, scale {prediction.scale:g})."
    )


def rows(record: JobsRecord) -> list[tuple[str, ...]]:
    """For each job its name, ranks, hosts, waiting time and end; see `COLUMNS`."""
    return [
        (
            job.name,
            str(job.num_ranks),
            str(len(set(job.host_of_rank))),
            format_duration(predicted.waiting_time_s),
            format_duration(predicted.finish_time_s),
        )
        for job, predicted in zip(record.jobs, record.prediction.jobs, strict=True)
    ]


def ranks_of_hosts(record: JobsRecord) -> list[tuple[str, str]]:
    """Each host with the ranks of each job on it, and how many of its slots were taken."""
    placements = record.placements()
    lines = []
    for host in record.hosts:
        parts = [
            f"{job.name} {rank_ranges(placement.ranks_on(host))}"
            for job, placement in zip(record.jobs, placements, strict=True)
            if placement.ranks_on(host)
        ]
        if record.taken.get(host):
            parts.append(f"{len(record.taken[host])} slots taken")
        lines.append((host, "; ".join(parts) or "-"))
    return lines
