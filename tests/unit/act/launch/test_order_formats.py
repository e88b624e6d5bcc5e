# SPDX-License-Identifier: Apache-2.0
"""An order of hosts in the forms of others."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from fairlead.act.launch import parse_hostfile
from fairlead.act.launch.order_formats import (
    ORDER_FORMATS,
    HostOrder,
    format_of_command,
    numbers_hosts_itself,
    own_host,
)
from fairlead.errors import InputError

ORDER = HostOrder(("h2", "h0", "h1"), (2, 2, 1), own="h0", port=29501)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names", "h2\nh0\nh1\n"),
        ("hostfile", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("deepspeed", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("mpi-operator", "h2 slots=2\nh0 slots=2\nh1 slots=1\n"),
        ("mpich", "h2:2\nh0:2\nh1:1\n"),
        ("slurm", "h2\nh2\nh0\nh0\nh1\n"),
        ("torchrun", "--nnodes=3 --node_rank=1 --master_addr=h2 --master_port=29501\n"),
        (
            "task-prolog",
            "export NNODES=3\nexport NODE_RANK=1\nexport MASTER_ADDR=h2\n"
            "export MASTER_PORT=29501\nexport PET_NNODES=3\nexport PET_NODE_RANK=1\n"
            "export PET_MASTER_ADDR=h2\nexport PET_MASTER_PORT=29501\n"
            "export PET_RDZV_BACKEND=static\nexport PET_RDZV_ENDPOINT=h2:29501\n",
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


@pytest.mark.parametrize("name", ["hostfile", "mpich"])
def test_hostfile_is_read_again_in_the_same_order(name: str) -> None:
    cluster = parse_hostfile(ORDER_FORMATS[name].text(ORDER), "ordered.txt")

    assert (cluster.hosts, cluster.slots) == (ORDER.hosts, ORDER.slots)


def test_deepspeed_finds_every_host_once_with_its_slots() -> None:
    """By the pattern of DeepSpeed's launcher, runner.py, which refuses a host that comes twice."""
    lines = ORDER_FORMATS["deepspeed"].text(ORDER).splitlines()

    found = [re.search(r"^(\S+)\s+slots=(\d+)", line) for line in lines]

    assert [(match[1], int(match[2])) for match in found if match] == [
        ("h2", 2),
        ("h0", 2),
        ("h1", 1),
    ]


@pytest.mark.parametrize(
    ("name", "program", "options"),
    [("mpich", "mpiexec.mpich", "-f"), ("hostfile", "mpiexec.openmpi", "--hostfile")],
)
def test_launchers_take_the_file(name: str, program: str, options: str, tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path = tmp_path / "order.txt"
    path.write_text(ORDER_FORMATS[name].text(HostOrder(("localhost",), (3,))))

    # Hydra was once ended by SIGPIPE where the ranks had ended at once.
    done = subprocess.run(
        [program, options, str(path), "-n", "3", "sh", "-c", "sleep 1; echo started"],
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout.split()) == (0, ["started"] * 3), done.stderr


def test_host_that_is_not_in_the_order_has_no_rank() -> None:
    with pytest.raises(InputError, match="none of the hosts in order"):
        ORDER_FORMATS["torchrun"].text(HostOrder(("h2", "h1"), (1, 1), own="h0"))


def test_variables_of_torchrun_are_defaults_of_its_options() -> None:
    variables = ORDER_FORMATS["torchrun"].variables
    assert variables is not None
    found = variables(ORDER, None)

    assert found["PET_NODE_RANK"] == found["NODE_RANK"] == "1"
    assert found["PET_MASTER_ADDR"] == "h2"


def test_rendezvous_of_an_operator_gives_way_to_the_one_with_given_ranks() -> None:
    # Kubeflow, PyTorchJob with an elasticPolicy: PET_RDZV_BACKEND=c10d, PET_RDZV_ENDPOINT=...
    for name in ("torchrun", "task-prolog"):
        text = ORDER_FORMATS[name].text(ORDER)
        if name == "torchrun":
            variables = ORDER_FORMATS[name].variables
            assert variables is not None
            text = "\n".join(f"export {k}={v}" for k, v in variables(ORDER, None).items())
        assert "export PET_RDZV_BACKEND=static" in text.splitlines()
        assert f"export PET_RDZV_ENDPOINT=h2:{ORDER.port}" in text.splitlines()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("--nnodes 2 train.py", None),
        ("--rdzv-backend=static train.py", None),
        ("--rdzv_backend static train.py", None),
        ("--rdzv-backend=c10d train.py", "--rdzv-backend=c10d"),
        ("--rdzv_backend etcd-v2 train.py", "--rdzv_backend=etcd-v2"),
        ("--standalone train.py", "--standalone"),
        ("--nnodes 2 train.py --standalone --rdzv-backend=c10d", None),
    ],
)
def test_options_by_which_torchrun_sorts_hosts_itself_are_found(
    options: str, found: str | None
) -> None:
    assert numbers_hosts_itself(["torchrun", *options.split()]) == found


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
        ("mpiexec.hydra -f order.txt ./solver", "mpich"),
        ("python3 train.py -m torch.distributed.run", None),
        ("python3 -u -m torch.distributed.run train.py", "torchrun"),
        ("python3.11 -X faulthandler -Wd -um torch.distributed.run train.py", "torchrun"),
        ("python -m torch.distributed.launch train.py", "torchrun"),
        ("python -c pass -m torch.distributed.run", None),
        ("python -m trainer torchrun", None),
        ("mpirun.openmpi -n 4 ./solver", "hostfile"),
        ("orterun -n 4 ./solver", "hostfile"),
        ("./solver", None),
        ("", None),
    ],
)
def test_form_follows_from_the_program(command: str, form: str | None) -> None:
    assert format_of_command(command.split()) == form
