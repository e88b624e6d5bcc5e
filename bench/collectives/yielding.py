# SPDX-License-Identifier: Apache-2.0
"""yielding.c, built for what is measured with MPICH."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


def yielding_library(folder: Path) -> Path:
    """Builds the library there."""
    library = folder / "yielding.so"
    shared = ["-O2", "-shared", "-fPIC", "-o", library]
    subprocess.run(["cc", *shared, SOURCE, "-ldl"], check=True)
    return library
