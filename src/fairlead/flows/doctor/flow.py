# SPDX-License-Identifier: Apache-2.0
"""The checks, in the order in which a run depends on them; one that fails ends those after it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairlead.act import mpi_builds
from fairlead.act.launch import (
    Launcher,
    LaunchSpec,
    detect,
    observe_ranks,
    unreachable_hosts,
)
from fairlead.act.mpi_builds import MpiBuild
from fairlead.errors import Error
from fairlead.files.lookup import is_there
from fairlead.files.run_directory import cache_folder, state_folder
from fairlead.files.scratch import scratch_folder
from fairlead.flows.doctor.check import Check, failed, passed, warned
from fairlead.flows.doctor.host_report import HostReport, ask_hosts
from fairlead.flows.request import LauncherRequest, find_hosts, name_origin
from fairlead.model.cluster import Cluster

__all__ = ["check_all"]

_MOST_SKEW_S = 60
"""Clocks further apart mislead who reads the records; nothing is computed from them."""


def check_all(
    named: Cluster | None, by: LauncherRequest, num_ranks: int | None = None
) -> list[Check]:
    """All checks up to the first that fails.

    Args:
        named: Hosts by a file or a list; None for those of the allocation.
        by: The launcher.
        num_ranks: How many it is to start; None for as many as it starts by itself.
    """
    checks = []
    for check in _checks(named, by, num_ranks):
        checks.append(check)
        if check.state == "failed":
            break
    return checks


def _checks(named: Cluster | None, by: LauncherRequest, num_ranks: int | None) -> Iterator[Check]:
    yield from _check_folders()
    try:
        launcher = detect(by.mpirun)
    except Error as error:
        yield failed("launcher", str(error), "load the module of your MPI, or give --mpirun PATH")
        return
    version = ".".join(map(str, launcher.version))
    yield passed("launcher", f"{launcher.name} {version}, {launcher.path}")
    try:
        build = mpi_builds.find(launcher)
    except Error as error:
        yield failed("part for this MPI", str(error), "fairlead mpi add --mpicxx PATH")
        return
    yield passed("part for this MPI", str(build.root))
    try:
        cluster = find_hosts(named, by)
    except Error as error:
        yield failed("hosts", str(error), "give --hostfile FILE, or run inside a job")
        return
    where = "as given" if named is not None else f"of {name_origin(cluster)}"
    yield passed("hosts", f"{cluster.num_hosts} with {cluster.num_slots} slots, {where}")
    yield from _check_hosts(launcher, build, cluster, by.arguments)
    yield _check_ranks(launcher, cluster, by.arguments, num_ranks)


def _check_folders() -> Iterator[Check]:
    for name, folder in (("records", state_folder()), ("cache", cache_folder())):
        there = next(path for path in (folder, *folder.parents) if is_there(path))
        if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
            yield passed(f"folder of {name}", str(folder))
        else:
            variable = "XDG_STATE_HOME" if name == "records" else "XDG_CACHE_HOME"
            yield warned(
                f"folder of {name}",
                f"{folder} cannot be written; nothing is kept for later runs",
                f"set {variable} to a folder of yours",
            )


def _check_hosts(
    launcher: Launcher, build: MpiBuild, cluster: Cluster, arguments: tuple[str, ...]
) -> Iterator[Check]:
    try:
        silent = unreachable_hosts(launcher, cluster, launcher_args=arguments)
    except Error as error:
        yield failed("reach", str(error), "name the program that reaches hosts")
        return
    if silent:
        named = "; ".join(f"{host}: {why}" for host, why in list(silent.items())[:3])
        yield failed(
            "reach",
            f"{len(silent)} of {cluster.num_hosts} hosts do not answer: {named}",
            "leave them out of the hostfile, or give run --skip-unreachable",
        )
        return
    yield passed("reach", f"all {cluster.num_hosts} hosts answer")
    paths = [build.intercept, build.probe]
    try:
        reports = ask_hosts(launcher, cluster, paths, arguments)
    except Error as error:
        yield failed("start", str(error), "try the launcher with the program hostname")
        return
    yield from _check_reports(reports, paths)


def _check_reports(reports: Sequence[HostReport], paths: Sequence[Path]) -> Iterator[Check]:
    lacking = [report.host for report in reports if not report.paths.issuperset(paths)]
    if lacking:
        yield failed(
            "installation on hosts",
            f"{len(lacking)} of {len(reports)} hosts cannot read {paths[0].parent.parent}, the "
            f"first is {lacking[0]}",
            "install Fairlead in a folder that all hosts share, such as your home folder",
        )
    else:
        yield passed("installation on hosts", "all hosts can read it")
    cpus = Counter(report.num_cpus for report in reports)
    each = ", ".join(f"{number} hosts with {of_each} CPUs" for of_each, number in cpus.items())
    yield passed("CPUs", each)
    interfaces = Counter(", ".join(report.interfaces) for report in reports)
    usual, number = interfaces.most_common(1)[0]
    if number == len(reports):
        yield passed("interfaces", f"{usual or 'only the loopback'} on all hosts")
    else:
        other = next(report for report in reports if ", ".join(report.interfaces) != usual)
        yield warned(
            "interfaces",
            f"{usual} on {number} of {len(reports)} hosts, {', '.join(other.interfaces)} on "
            f"{other.host}",
            "name the network to the MPI, for example --mca btl_tcp_if_include 10.0.0.0/8",
        )
    clocks = [report.clock_s for report in reports]
    skew_s = max(clocks) - min(clocks)
    if skew_s <= _MOST_SKEW_S:
        yield passed("clocks", f"at most {skew_s + 1} s apart")
    else:
        yield warned(
            "clocks", f"{skew_s} s apart", "set them by NTP; records of the hosts do not compare"
        )
    if without := [report.host for report in reports if "taskset" not in report.programs]:
        yield warned(
            "taskset",
            f"{len(without)} of {len(reports)} hosts do not have it, the first is {without[0]}",
            "install util-linux: some launchers keep the binding of placed ranks only by it",
        )


def _check_ranks(
    launcher: Launcher, cluster: Cluster, arguments: tuple[str, ...], num_ranks: int | None
) -> Check:
    """Whether the launcher starts the ranks, and what it binds each to."""
    spec = LaunchSpec(("true",), num_ranks, cluster, launcher_args=arguments)
    by = "without -n" if num_ranks is None else "as asked for"
    try:
        with scratch_folder("fairlead-doctor-") as folder:
            ranks = observe_ranks(launcher, spec, folder)
    except Error as error:
        if num_ranks is None:
            return warned("ranks", f"{by}: {error}", "give -n to run")
        remedy = "try the launcher with the program hostname, as many ranks and the same options"
        return failed("ranks", f"{num_ranks} {by}: {error}", remedy)
    lists = Counter(rank.cpus for rank in ranks)
    usual = ", ".join(f"{number} ranks on CPUs {cpus}" for cpus, number in lists.most_common(3))
    more = "" if len(lists) <= 3 else f" and {len(lists) - 3} other lists"
    return passed("ranks", f"{len(ranks)} {by}: {usual}{more}")
