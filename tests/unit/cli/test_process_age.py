# SPDX-License-Identifier: Apache-2.0
"""The age of a process begins when the kernel starts it."""

from __future__ import annotations

import subprocess
import sys
import time

from fairlead.cli.process_age import process_age_s


def test_the_start_of_python_and_imports_count() -> None:
    program = "from fairlead.cli.process_age import process_age_s; print(process_age_s())"

    before = time.monotonic()
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    whole_s = time.monotonic() - before

    # The kernel gives the start in hundredths of a second.
    assert 0 < float(printed.stdout) <= whole_s + 0.01


def test_it_grows_with_the_clock() -> None:
    before_s = process_age_s()
    begin = time.monotonic()
    while time.monotonic() - begin < 0.05:
        pass

    assert process_age_s() - before_s >= 0.04
