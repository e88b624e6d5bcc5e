# SPDX-License-Identifier: Apache-2.0
"""However a lab ends, nothing of it is left; and labs do not disturb one another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import lab_traces
import pytest

from fairlead.errors import LabError
from fairlead.lab import Lab
from fairlead.lab.state import labs_folder, live_labs

pytestmark = [pytest.mark.lab]


# Names of its own: other labs of the same user may come and go meanwhile.
NAME = f"end-{os.getpid()}"


def folder_of(lab):
    return lab.hostfile.parent


def test_down_leaves_no_process_namespace_link_or_file():
    links = lab_traces.link_names()
    with Lab.up("two-racks", NAME, hosts=4) as lab:
        sleeper = subprocess.Popen(lab.command(["sleep", "1000"], host="h1"))
        namespaces = lab_traces.namespaces_of_lab(lab_traces.holder_pid(folder_of(lab)))
        assert len([name for name in namespaces if name.startswith("net:")]) == 6

    sleeper.wait()
    assert lab_traces.still_there(namespaces) == set()
    assert lab_traces.link_names() == links
    assert not folder_of(lab).exists()
    assert lab.name not in live_labs()


def test_exception_takes_the_lab_down():
    with pytest.raises(KeyboardInterrupt), Lab.up("flat", hosts=2) as lab:
        namespaces = lab_traces.namespaces_of_lab(lab_traces.holder_pid(folder_of(lab)))
        raise KeyboardInterrupt

    assert lab_traces.still_there(namespaces) == set()


def test_killed_holder_leaves_nothing_and_the_next_command_removes_its_folder():
    with Lab.up("flat", NAME, hosts=2) as lab:
        sleeper = subprocess.Popen(lab.command(["sleep", "1000"], host="h1"))
        holder = lab_traces.holder_pid(folder_of(lab))
        namespaces = lab_traces.namespaces_of_lab(holder)

        os.kill(holder, signal.SIGKILL)
        sleeper.wait()

        assert lab_traces.happens(lambda: not lab_traces.still_there(namespaces))
        assert lab_traces.happens(lambda: lab.name not in live_labs())
        assert not folder_of(lab).exists()
        with pytest.raises(LabError, match="is not up"):
            Lab.attach(lab.name)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_lab_ends_with_the_process_that_brought_it_up(number):
    code = (
        "from fairlead.lab import Lab\n"
        "import time\n"
        f"with Lab.up('flat', '{NAME}', hosts=2) as lab:\n"
        "    print(lab.name, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        name = process.stdout.readline().strip()
        holder = lab_traces.holder_pid(folder_of(Lab.attach(name)))
        namespaces = lab_traces.namespaces_of_lab(holder)
        process.send_signal(number)
        process.wait()

    assert lab_traces.happens(lambda: not lab_traces.still_there(namespaces))
    assert lab_traces.happens(lambda: name not in live_labs())


def test_interrupted_start_leaves_nothing():
    code = f"from fairlead.lab import Lab\nprint(1, flush=True)\nLab.up('pairwise', '{NAME}', 40)\n"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.readline()
        assert lab_traces.happens(lambda: _descendant_holders(process.pid))
        holders = _descendant_holders(process.pid)
        process.send_signal(signal.SIGINT)
        process.wait()

    assert lab_traces.happens(lambda: not any(Path(f"/proc/{pid}").exists() for pid in holders))
    assert not (labs_folder() / NAME).exists()


def _descendant_holders(pid):
    """Children of the process, and their children."""
    found = set()
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found |= {child, *Path(f"/proc/{child}/task/{child}/children").read_text().split()}
    return found


def test_two_labs_are_up_at_once_and_do_not_meet():
    with Lab.up("two-racks", hosts=3) as one, Lab.up("two-racks", hosts=3) as two:
        assert one.name != two.name
        one.degrade("h0", "h1", 0.5)
        one_sees = one.run(["cat", "/etc/hosts"], "h0", capture_output=True).stdout
        net = ["readlink", "/proc/self/ns/net"]
        networks = [lab.run(net, "h0", capture_output=True).stdout for lab in (one, two)]

        assert b"h2" in one_sees
        assert networks[0] != networks[1]
        assert two.shaped_Bps()[0, 1] == 2 * one.shaped_Bps()[0, 1]


def test_taken_name_is_refused():
    with Lab.up("flat", hosts=2) as lab:
        with pytest.raises(LabError, match=f"{lab.name!r} is up already"):
            Lab.up("flat", name=lab.name, hosts=2)

        assert lab.run(["true"], "h1").returncode == 0
