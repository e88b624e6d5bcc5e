#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One host of bench/order/gloo.py: a work of torch by gloo in each order, one after the other.

Runs under any Python with torch. Reads lists of orders, one a line. For each order it makes a
process group whose ranks follow the order, and times the work in it once the connections have been
used; the last rank to end counts. Rank 0 prints its seconds.
"""

from __future__ import annotations

import datetime
import gc
import json
import math
import os
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed as dist

LIMIT = datetime.timedelta(seconds=120)
NUM_LAYERS = 4
BATCH = 8


def main() -> None:
    request = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    all_orders = (order for line in sys.stdin for order in json.loads(line))
    for turn, order in enumerate(all_orders):
        rank = order.index(request["host"])
        place = f"tcp://{order[0]}:{request['port'] + turn}"
        dist.init_process_group(
            "gloo", init_method=place, rank=rank, world_size=len(order), timeout=LIMIT
        )
        # Made before it is timed: gloo connects, and DistributedDataParallel sends the parameters.
        work = WORKS[request["work"]](request["size_bytes"])
        dist.all_reduce(torch.ones(1 << 18))
        seconds = timed(work)
        if rank == 0:
            print(seconds, flush=True)
        # DistributedDataParallel keeps the group, whose threads may hang at the end of the process.
        del work
        gc.collect()
        dist.destroy_process_group()
    os._exit(0)


def timed(work: Callable[[], None]) -> float:
    dist.barrier()
    begin_s = time.monotonic()
    work()
    longest = torch.tensor([time.monotonic() - begin_s])
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    return float(longest[0])


def allreduce(size_bytes: int) -> Callable[[], None]:
    values = torch.ones(size_bytes // 4, dtype=torch.float32)
    return lambda: dist.all_reduce(values)


def all_to_all(size_bytes: int) -> Callable[[], None]:
    num_values = size_bytes // 4 // dist.get_world_size() * dist.get_world_size()
    sent = torch.ones(num_values, dtype=torch.float32)
    received = torch.empty_like(sent)
    return lambda: dist.all_to_all_single(received, sent)


def ddp_step(size_bytes: int) -> Callable[[], None]:
    """A training step of linear layers whose gradients have `size_bytes` together."""
    width = math.isqrt(size_bytes // 4 // NUM_LAYERS)
    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(NUM_LAYERS)]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.ones(BATCH, width)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


WORKS = {"allreduce": allreduce, "all-to-all": all_to_all, "ddp-step": ddp_step}


if __name__ == "__main__":
    main()
