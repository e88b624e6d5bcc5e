# SPDX-License-Identifier: Apache-2.0
"""A rank that torchrun starts: adds up the ranks by gloo, and prints its own and its host."""

import platform

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank())])
dist.all_reduce(total)
print(f"rank {dist.get_rank()} on {platform.node()} of {int(total[0])}", flush=True)
dist.destroy_process_group()
