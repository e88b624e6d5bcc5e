# SPDX-License-Identifier: Apache-2.0
"""The checks of a set-up: what hosts report, and the remedy for each lack."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.flows.doctor import flow
from fairlead.flows.doctor.check import Check
from fairlead.flows.doctor.host_report import HostReport, ask_hosts
from fairlead.flows.request import LauncherRequest

LAUNCHER = OpenMpi4(Path("mpirun"), (4, 1, 4))
HOSTS = fl.Cluster(("a", "b"), (1, 1))


def start_here(spec: LaunchSpec) -> str:
    """Both hosts are this machine."""
    output = ""
    for rank in range(2):
        env = {**os.environ, "PMI_RANK": str(rank)}
        env.pop("OMPI_COMM_WORLD_RANK", None)
        output += subprocess.run(
            spec.program, env=env, capture_output=True, text=True, check=True
        ).stdout
    return output


def test_a_host_reports_what_it_has(tmp_path: Path) -> None:
    there, missing = tmp_path / "two words", tmp_path / "nowhere"
    there.write_text("")
    first, second = ask_hosts(LAUNCHER, HOSTS, [there, missing], start=start_here)
    assert (first.host, second.host) == ("a", "b")
    assert first.paths == {there}
    assert first.programs == {"taskset"}
    assert first.num_cpus == os.sysconf("SC_NPROCESSORS_ONLN")
    assert abs(first.clock_s - time.time()) < 600
    assert "lo" not in first.interfaces


def test_a_host_that_reports_nothing_is_named() -> None:
    with pytest.raises(fl.LaunchError, match="no report of b"):
        ask_hosts(LAUNCHER, HOSTS, [], start=lambda _spec: "fairlead-host 0 cpus 2\n")


def report(host: str, **other: Any) -> HostReport:
    usual = {
        "clock_s": 1000,
        "num_cpus": 4,
        "paths": frozenset({Path("/fl/lib/a.so")}),
        "programs": frozenset({"taskset"}),
        "interfaces": ("eth0",),
    }
    return HostReport(host, **(usual | other))


def checks_of(*reports: HostReport) -> dict[str, Check]:
    found = flow._check_reports(reports, [Path("/fl/lib/a.so")])
    return {check.name: check for check in found}


def test_hosts_that_are_alike_pass() -> None:
    assert {check.state for check in checks_of(report("a"), report("b")).values()} == {"ok"}


@pytest.mark.parametrize(
    ("other", "name", "state", "found"),
    [
        ({"paths": frozenset()}, "installation on hosts", "failed", "first is b"),
        ({"interfaces": ("ib0",)}, "interfaces", "warning", "ib0 on b"),
        ({"clock_s": 1100}, "clocks", "warning", "100 s apart"),
        ({"programs": frozenset()}, "taskset", "warning", "first is b"),
    ],
)
def test_a_host_that_differs_is_named_with_a_remedy(
    other: dict[str, Any], name: str, state: str, found: str
) -> None:
    check = checks_of(report("a"), report("b", **other))[name]
    assert check.state == state
    assert found in check.found
    assert check.remedy


def test_what_comes_after_a_failure_is_not_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    checks = flow.check_all(HOSTS, LauncherRequest(str(tmp_path / "nowhere")))
    assert [check.name for check in checks] == ["folder of records", "folder of cache", "launcher"]
    assert [check.state for check in checks] == ["ok", "ok", "failed"]
    assert "nowhere: no such program" in checks[-1].found


def test_a_folder_that_cannot_be_written_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    check = next(flow._check_folders())
    assert (check.name, check.state) == ("folder of records", "warning")
    assert check.remedy == "set XDG_STATE_HOME to a folder of yours"


def test_a_folder_that_cannot_be_looked_up_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"/dev/null/{300 * 'x'}")
    found = flow.check_all(HOSTS, LauncherRequest("no-such-mpirun"))[0]
    assert (found.name, found.state) == ("folder of records", "warning")
    assert found.remedy == "set XDG_STATE_HOME to a folder of yours"
