# SPDX-License-Identifier: Apache-2.0
"""The oracle as a service of its own, as users start it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def serving(folder: Path, topology: str, *options: str) -> Iterator[str]:
    """Where a service of a topology in a folder answers while the block runs."""
    command = [sys.executable, "-m", "fairlead", "oracle", "serve", topology, "--port", "0"]
    with subprocess.Popen(
        [*command, *options],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as service:
        try:
            assert service.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", service.stderr.readline())
            assert found is not None
            yield found[0]
        finally:
            service.terminate()
