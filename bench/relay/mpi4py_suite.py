#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run mpi4py's own tests without the preload library, and with every message relayed.

    python bench/relay/mpi4py_suite.py --tests mpi4py-4.1.2/test --mpirun mpirun.openmpi

Every message of at least 23 bytes between two ranks goes by routers, which all run on this machine.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench" / "collectives"))
sys.path.append(str(ROOT / "tests" / "mpi"))
from forced_suite import num_differing, parser_of_suite  # noqa: E402
from relaying import running, write_plan  # noqa: E402

MESSAGES = "test_p2p_.*|test_msgzero|test_msgspec|test_request|test_status|test_cco_.*|test_pack"


@contextlib.contextmanager
def forced_plan(folder: Path, hosts: list[str], turn: int) -> Iterator[None]:
    """Routers of these hosts, and a plan in which nothing goes directly."""
    del turn
    with running(len(hosts)) as routers:
        write_plan(folder, routers, threshold_bytes=0)
        yield
        if not routers.all_forward():
            raise SystemExit("no message was relayed")


def main() -> int:
    """Print what differs."""
    options = parser_of_suite(__doc__, MESSAGES).parse_args()
    return 1 if num_differing(options, forced_plan) else 0


if __name__ == "__main__":
    sys.exit(main())
