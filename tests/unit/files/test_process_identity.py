# SPDX-License-Identifier: Apache-2.0
"""A process that has ended is not taken for another one with its number."""

from __future__ import annotations

import os
import subprocess

from fairlead.files.process_identity import ProcessIdentity, start_ticks


def test_a_process_runs_until_it_has_ended() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        one = ProcessIdentity.of_this_process()._replace(
            pid=process.pid, started=start_ticks(process.pid)
        )
        assert one.is_here
        assert one.is_running
    assert not one.is_running


def test_another_process_with_the_same_number_is_another_one() -> None:
    own = ProcessIdentity.of_this_process()
    assert own.is_running
    assert not own._replace(started=own.started - 1).is_running


def test_a_process_of_another_machine_is_elsewhere() -> None:
    assert not ProcessIdentity.of_this_process()._replace(machine="elsewhere").is_here


def test_a_process_of_another_container_on_this_machine_is_elsewhere() -> None:
    own = ProcessIdentity.of_this_process()
    assert own.pid_namespace == os.readlink("/proc/self/ns/pid")  # noqa: PTH115
    assert not own._replace(pid_namespace="pid:[1]").is_here
    # A record from before namespaces were recorded.
    assert own._replace(pid_namespace="").is_here
