# SPDX-License-Identifier: Apache-2.0
"""One host of bench/order/allreduce.py: torch's allreduce by gloo in each order, again and again.

Runs under any Python with torch. For each order it makes a process group whose ranks follow the
order, and times allreduces in it; the last rank to end counts. Rank 0 prints a line for each.
"""

from __future__ import annotations

import datetime
import json
import sys
import time

import torch
import torch.distributed as dist

LIMIT = datetime.timedelta(seconds=120)


def main() -> None:
    work = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    values = torch.ones(work["size_bytes"] // 4, dtype=torch.float32)
    for turn, name in enumerate(work["turns"]):
        order = work["orders"][name]
        rank = order.index(work["host"])
        place = f"tcp://{order[0]}:{work['port'] + turn}"
        dist.init_process_group(
            "gloo", init_method=place, rank=rank, world_size=len(order), timeout=LIMIT
        )
        # The first one opens the connections.
        seconds = [timed(values) for _ in range(work["repeats"] + 1)][1:]
        if rank == 0:
            print(json.dumps({"order": name, "seconds": min(seconds)}), flush=True)
        dist.destroy_process_group()


def timed(values: torch.Tensor) -> float:
    dist.barrier()
    begin_s = time.monotonic()
    dist.all_reduce(values)
    longest = torch.tensor([time.monotonic() - begin_s])
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    values.fill_(1.0)
    return float(longest[0])


if __name__ == "__main__":
    main()
