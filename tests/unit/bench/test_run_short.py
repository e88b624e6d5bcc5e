# SPDX-License-Identifier: Apache-2.0
"""CI runs each benchmark for a short time, or docs/reference/results.md says which it does not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
HELPERS = {"relay/inside.py", "order/gloo_ranks.py"}
"""Not benchmarks, though they are started: by themselves, inside of a lab."""


def test_each_benchmark_is_run_or_named_as_left_out() -> None:
    files = {
        str(file.relative_to(ROOT / "bench"))
        for file in (ROOT / "bench").glob("*/*.py")
        if "__main__" in file.read_text()
    }
    script = (ROOT / "bench" / "run-short").read_text()
    (listed,) = re.findall(r"benchmarks=\((.*?)\)", script, re.DOTALL)
    expanded = subprocess.run(
        ["bash", "-c", f"echo {' '.join(listed.split())}"],
        capture_output=True,
        text=True,
        check=True,
    )
    results = (ROOT / "docs" / "reference" / "results.md").read_text()
    (left_out,) = re.findall(r"each benchmark but these: (.*?)\n\n", results, re.DOTALL)

    run = set(expanded.stdout.split())
    assert run | set(re.findall(r"`bench/([\w/]+\.py)`", left_out)) == files - HELPERS
