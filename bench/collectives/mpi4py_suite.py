#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run mpi4py's own tests without the preload library, and with every collective forced through it.

There are as many turns as schedules of ours for an operation, so that each is followed in one of
them; the MPI's own algorithm in another order is left out.

python bench/collectives/mpi4py_suite.py --tests mpi4py-4.1.2/test --mpirun mpirun.openmpi
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from forced_suite import num_differing, parser_of_suite

import fairlead as fl
from fairlead.act.plan.network import write_network_plan
from fairlead.act.plan.plan_file import write_plan_file

COLLECTIVES = "test_cco_.*|test_comm.*|test_op|test_msgzero|test_attributes|test_errhandler"


def forcing_methods(operation: str, *, with_native: bool = False) -> list[str]:
    """Methods of ours for an operation; before them that which changes the MPI's order alone."""
    methods = fl.collectives.methods_for(operation)
    return [method for method in methods if with_native or method != "native"]


ALL_TURNS = max(len(forcing_methods(operation)) for operation in fl.collectives.OPERATIONS)


@contextlib.contextmanager
def forced_plan(
    folder: Path, hosts: list[str], turn: int, *, with_native: bool = False
) -> Iterator[None]:
    """A plan in which every call follows a schedule; in each turn by other methods."""
    num_hosts = len(hosts)
    near = np.eye(num_hosts, dtype=bool)
    network = fl.Network(hosts, np.where(near, 0.0, 5e-5), np.where(near, np.inf, 1e8))
    rules = []
    for operation in fl.collectives.OPERATIONS:
        methods = forcing_methods(operation, with_native=with_native)
        method = methods[turn % len(methods)]
        rules.append({"operation": operation, "min_bytes": 0, "max_bytes": None, "hosts": None,
                      "method": method})  # fmt: skip
    write_network_plan(folder, network)
    fields = {"num_ranks": num_hosts, "is_reproducible": False, "rules": rules}
    write_plan_file(folder, "collectives.json", fields, 2)
    yield


def main() -> int:
    """Print what differs."""
    parser = parser_of_suite(__doc__, COLLECTIVES)
    parser.add_argument("--turns", type=int, default=ALL_TURNS, help="each by other methods")
    options = parser.parse_args()
    return 1 if num_differing(options, forced_plan, options.turns) else 0


if __name__ == "__main__":
    sys.exit(main())
