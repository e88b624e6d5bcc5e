# SPDX-License-Identifier: Apache-2.0
"""A delay line that does not start is named with its reason, before a lab counts as up."""

from __future__ import annotations

import pytest

from fairlead.errors import LabError
from fairlead.lab.delay_line import start_delay_line


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("cat >/dev/null; echo 'TAP device line0: Device or resource busy'; exit 1", "line0: Dev"),
        ("cat >/dev/null; exit 1", "it died"),
        ("exit 1", "it died"),
    ],
)
def test_delay_line_that_does_not_start_is_refused_with_its_reason(tmp_path, body, problem):
    program = tmp_path / "line"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)

    # More than a pipe holds, so that a program that does not read is noticed while writing.
    with pytest.raises(LabError, match=f"the delay line did not start: .*{problem}"):
        start_delay_line(["line0"], "0\n" * 100_000, str(program))


def test_missing_program_is_refused():
    with pytest.raises(LabError, match="_lab/no-such is missing; install Fairlead again"):
        start_delay_line([], "", "_lab/no-such")
