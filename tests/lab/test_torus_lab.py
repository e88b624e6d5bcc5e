# SPDX-License-Identifier: Apache-2.0
"""An emulated torus: packets take the routes of a Gemini, routers count them, tasks move away.

h0 h1 on (0,0)   (1,0)   (2,0)      a ring of three in X, two links between the rings in Y;
h2 h3 on (0,1)   (1,1)   (2,1)      Y runs fastest in the numbers of the hosts
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from busy_machine import measured_until
from lab_traces import happens

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.errors import InputError
from fairlead.lab import Lab, Scenario
from fairlead.lab.addresses import login_address
from fairlead.measure.metrics import Quantity, open_source

pytestmark = [pytest.mark.lab]

SMALL = Scenario.model_validate(
    {
        "name": "small-torus",
        "hosts": 12,
        "nic": "400Mbit/s",
        "torus": {"sizes": [3, 2], "links": ["40Mbit/s", "20Mbit/s"]},
    }
)
BYTES_OF_LINKS = 1e5
"""More than what handshakes and answers take."""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab.up(SMALL) as lab:
        yield lab


def used_links(lab: Lab, before: list[float]) -> set[str]:
    after = lab.link_counters()
    return {
        port
        for port, now, then in zip(after["ports"], after["bytes"], before, strict=True)
        if now - then > BYTES_OF_LINKS
    }


def stalled_s(lab: Lab, port: str) -> float:
    """Stall time of what comes into a router by this link, since the lab is up."""
    found = {series.key: series for series in open_source(f"lab:{lab.name}").read(0, 0)}
    return float(found[port, True, Quantity.stalled_s].values[0])


def test_rates_are_those_of_the_links(lab: Lab) -> None:
    assert measured_until(lambda wrong: not wrong, lambda: lab.check()[1]) == []


def test_packets_go_along_x_then_y_the_shorter_way_round(lab: Lab) -> None:
    before = lab.link_counters()["bytes"]

    lab.stream_Bps([(0, 10)], 0.1, 0.5)

    # Another process counts. From (0,0) to (2,1): one link against the ring, then one in Y; named
    # by receiving ends.
    assert happens(lambda: len(used_links(lab, before)) >= 2, 60)
    assert used_links(lab, before) == {"2,0 X+", "2,1 Y-"}


def test_link_that_is_filled_is_counted_as_stalled(lab: Lab) -> None:
    before_s = stalled_s(lab, "1,0 X-"), stalled_s(lab, "2,0 X-")

    lab.add_load("h1", "h5")

    # From (0,0) to (1,0).
    assert happens(lambda: stalled_s(lab, "1,0 X-") > before_s[0] + 1, 60)
    assert lab.end_loads() == 1
    assert stalled_s(lab, "2,0 X-") == before_s[1]


def test_pair_of_a_load_has_two_hosts(lab: Lab) -> None:
    with pytest.raises(InputError, match="a pair has two hosts, got 'h1' twice"):
        lab.add_load("h1", "h1")


@pytest.mark.mpi
def test_real_counters_drive_a_real_remap(lab: Lab) -> None:
    pytest.importorskip("uvicorn", reason="the extra fairlead[oracle] is not installed")
    topology = str(lab.hostfile.parent / "torus.topo.npz")
    fairlead = [sys.executable, "-m", "fairlead"]
    # What the user types on the head node finds the lab by its name.
    lab.run([*fairlead, "import", "lab", lab.name, "-o", topology], check=True)
    serve = [*fairlead, "oracle", "serve", topology, "--metrics", f"lab:{lab.name}",
             "--every", "500ms", "--host", login_address(), "--port", "8765"]  # fmt: skip
    with subprocess.Popen(
        lab.command(serve), env=os.environ | lab.env, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stderr is not None
        assert any("answers on" in line for line in service.stderr)
        begun_s = stalled_s(lab, "1,0 X-")
        lab.add_load("h1", "h5")
        # Longer than the service's window.
        assert happens(lambda: stalled_s(lab, "1,0 X-") > begun_s + 3.5, 60)
        done = lab.run(
            ["mpirun.openmpi", "--host", "h0:1,h2:1,h4:1,h6:1,h8:1,h10:1", "-n", "6",
             "-x", f"FAIRLEAD_ORACLE=http://{login_address()}:8765?metric=stalls&window_s=3",
             str(find(detect("mpirun.openmpi")).example("spmv")),
             "--size", "12", "--vectors", "16", "--products", "40", "--every", "20", "--gain", "0"],
            capture_output=True, text=True,
        )  # fmt: skip
        service.terminate()

    assert done.stdout.endswith("PASSED\n"), done.stdout + done.stderr
    assert re.search(r"remappings +1 asked for, 1 moved tasks, 0 without", done.stdout)
