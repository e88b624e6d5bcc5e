# SPDX-License-Identifier: Apache-2.0
"""Scenario `flow-cap`: each connection of a pair of hosts has a rate of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from fairlead.lab import Lab

pytestmark = [pytest.mark.lab]

SENT_BYTES = 2_000_000

PROGRAM = f"""
import socket, sys
listener = socket.create_server(("0.0.0.0", 0)) if sys.argv[1] == "receive" else None
if listener:
    print(listener.getsockname()[1], flush=True)
    for _ in range(4):
        connection = listener.accept()[0]
        while connection.recv(1 << 20):
            pass
else:
    address = (sys.argv[2], int(sys.argv[3]))
    # Ports that the filter distinguishes.
    ports = range(40000, 40008, 2)
    connections = [socket.create_connection(address, source_address=("", port)) for port in ports]
    for connection in connections:
        connection.sendall(bytes({SENT_BYTES}))
        connection.close()
"""


def test_each_connection_has_a_class_of_a_fifth_of_the_interface() -> None:
    with Lab.up("flow-cap", hosts=2) as lab:
        receiver = subprocess.Popen(
            lab.command([sys.executable, "-c", PROGRAM, "receive"], "h1"),
            stdout=subprocess.PIPE, text=True, env=os.environ | lab.env,
        )  # fmt: skip
        assert receiver.stdout is not None
        port = receiver.stdout.readline().strip()
        lab.run([sys.executable, "-c", PROGRAM, "send", "h1", port], "h0", check=True)
        # The sender ends before all that it has sent has left.
        assert receiver.wait(30) == 0
        statistics = lab.run(
            ["tc", "-s", "class", "show", "dev", "eth0"], "h0",
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        receiver.stdout.close()
        rate_Bps = lab.shaped_Bps()[0, 1]

    classes = re.findall(r"class htb 1:[45]\w\w .*? ceil (\w+) .*?\n Sent (\d+) bytes", statistics)
    used = [ceil for ceil, sent in classes if int(sent) > SENT_BYTES]
    assert used == ["200Mbit"] * 4
    assert rate_Bps == 25e6
