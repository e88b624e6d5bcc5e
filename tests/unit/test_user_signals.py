# SPDX-License-Identifier: Apache-2.0
"""Signals while modules are imported: one is handled afterwards, a second one at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
from fairlead.user_signals import hold_signals
signal.signal(signal.SIGTERM, lambda *_: sys.exit("SIGTERM"))
signal.signal(signal.SIGINT, lambda *_: sys.exit("SIGINT"))
with hold_signals(), hold_signals():
    for name in sys.argv[1:]:
        os.kill(os.getpid(), signal.Signals[name])
        print("after", name, flush=True)
"""


@pytest.mark.parametrize(
    ("names", "printed", "handled"),
    [
        ((), "", ""),
        (("SIGTERM",), "after SIGTERM\n", "SIGTERM\n"),
        # As from a file system that does not answer.
        (("SIGINT", "SIGINT"), "after SIGINT\n", "SIGINT\n"),
        (("SIGINT", "SIGTERM"), "after SIGINT\n", "SIGINT\n"),
    ],
)
def test_a_signal_is_held_and_a_second_one_is_not(
    names: tuple[str, ...], printed: str, handled: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (printed, handled)
