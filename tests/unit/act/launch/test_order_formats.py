# SPDX-License-Identifier: Apache-2.0
"""An order of hosts in the forms of others."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from fairlead.act.launch import parse_hostfile
from fairlead.act.launch.order_formats import ORDER_FORMATS, HostOrder, format_of_command, own_host
from fairlead.errors import InputError

ORDER = HostOrder(("h2", "h0", "h1"), (2, 2, 1), own="h0", port=29501)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names", "h2\nh0\nh1\n"),
        ("hostfile", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("deepspeed", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("mpi-operator", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("slurm", "h2\nh2\nh0\nh0\nh1\n"),
        ("torchrun", "--nnodes=3 --node_rank=1 --master_addr=h2 --master_port=29501\n"),
        (
            "task-prolog",
            "export NNODES=3\nexport NODE_RANK=1\nexport MASTER_ADDR=h2\n"
            "export MASTER_PORT=29501\nexport PET_NNODES=3\nexport PET_NODE_RANK=1\n"
            "export PET_MASTER_ADDR=h2\nexport PET_MASTER_PORT=29501\n",
        ),
        (
            "kueue",
            "kubectl label --overwrite node h2 fairlead.dev/rank=000000\n"
            "kubectl label --overwrite node h0 fairlead.dev/rank=000001\n"
            "kubectl label --overwrite node h1 fairlead.dev/rank=000002\n",
        ),
    ],
)
def test_order_has_the_form_of_its_reader(name: str, text: str) -> None:
    assert ORDER_FORMATS[name].text(ORDER) == text


def test_hostfile_is_read_again_in_the_same_order() -> None:
    cluster = parse_hostfile(ORDER_FORMATS["hostfile"].text(ORDER), "ordered.txt")

    assert (cluster.hosts, cluster.slots) == (ORDER.hosts, ORDER.slots)


def test_host_that_is_not_in_the_order_has_no_rank() -> None:
    with pytest.raises(InputError, match="none of the hosts in order"):
        ORDER_FORMATS["torchrun"].text(HostOrder(("h2", "h1"), (1, 1), own="h0"))


def test_variables_of_torchrun_are_defaults_of_its_options() -> None:
    variables = ORDER_FORMATS["torchrun"].variables
    assert variables is not None
    found = variables(ORDER, None)

    assert found["PET_NODE_RANK"] == found["NODE_RANK"] == "1"
    assert found["PET_MASTER_ADDR"] == "h2"


def test_variables_of_slurm_name_the_file() -> None:
    variables = ORDER_FORMATS["slurm"].variables
    assert variables is not None

    assert variables(ORDER, Path("/x/order")) == {
        "SLURM_HOSTFILE": "/x/order",
        "SLURM_DISTRIBUTION": "arbitrary",
    }


def test_own_host_is_the_one_that_means_this_machine() -> None:
    assert own_host(("somewhere.invalid", socket.gethostname())) == socket.gethostname()
    assert own_host(("somewhere.invalid",)) is None


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("torchrun --nproc-per-node=8 train.py", "torchrun"),
        ("/opt/venv/bin/torchrun train.py", "torchrun"),
        ("python3 -m torch.distributed.run train.py", "torchrun"),
        ("srun ./solver", "slurm"),
        ("deepspeed --hostfile order.txt train.py", "deepspeed"),
        ("mpirun -n 4 ./solver", "hostfile"),
        ("python3 train.py -m torch.distributed.run", None),
        ("./solver", None),
        ("", None),
    ],
)
def test_form_follows_from_the_program(command: str, form: str | None) -> None:
    assert format_of_command(command.split()) == form
