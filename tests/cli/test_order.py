# SPDX-License-Identifier: Apache-2.0
"""`fairlead order` from a network to the forms of others, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fairlead as fl
from fairlead import cli

SPEC = "h0:2,h1:2,h2:2,h3:2"


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command in this process, in a folder with the network of two racks."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    rack = np.array([0, 1, 0, 1])
    bandwidth_Bps = np.where(rack[:, None] == rack, 125e6, 25e6)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    network = fl.Network(["h0", "h1", "h2", "h3"], np.where(np.eye(4), 0, 1e-4), bandwidth_Bps)
    network.save("cloud.net.npz")

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["fairlead", "order", *arguments])
        try:
            cli.main()
        except SystemExit as left:
            return Said(int(left.code or 0), *capsys.readouterr())
        return Said(0, *capsys.readouterr())

    return run


BY_FILE = ("--network", "cloud.net.npz", "-H", SPEC)


def test_names_are_printed_in_an_order_that_keeps_racks_together(order) -> None:
    said = order(*BY_FILE)

    assert said.code == 0, said.err
    names = said.out.split()
    assert sorted(names) == ["h0", "h1", "h2", "h3"]
    around = [int(name[1]) % 2 for name in names]
    assert sum(around[index] != around[index - 1] for index in range(4)) == 2
    assert "fairlead: order: ring takes 0." in said.err
    assert "as predicted" in said.err


def test_hostfile_keeps_the_slots(order) -> None:
    said = order(*BY_FILE, "--format", "hostfile", "-o", "ordered.txt")

    assert (said.code, said.out) == (0, "")
    assert all(line.endswith(" slots=2") for line in Path("ordered.txt").read_text().splitlines())


def test_each_node_gets_its_own_rank(order) -> None:
    names = order(*BY_FILE).out.split()

    printed = [
        order(*BY_FILE, "--format", "torchrun", "--node", name).out.split() for name in names
    ]

    for rank, words in enumerate(printed):
        assert words[:2] == ["--nnodes=4", f"--node_rank={rank}"]
        assert words[2] == f"--master_addr={names[0]}"


def test_json_has_the_order_and_the_gain(order) -> None:
    found = json.loads(order(*BY_FILE, "--json").out)

    assert found["given"] == ["h0", "h1", "h2", "h3"]
    assert found["is_kept"] is False and found["gain"]["ratio"] > 0.02
    assert found["bad_hosts"] == []


def test_names_of_one_machine_are_named(order) -> None:
    network = fl.Network.load("cloud.net.npz")
    aliases = {**network.origin, "one_machine": [["h0", "h2"]]}
    dataclasses.replace(network, origin=aliases).save("aliases.net.npz")

    said = order("--network", "aliases.net.npz", "-H", SPEC)

    assert said.code == 0
    assert "hosts 'h0' and 'h2' are one machine; name it once, with all its slots" in said.err


def test_given_order_is_kept_where_nothing_is_gained(order) -> None:
    said = order(*BY_FILE, "--pattern", "all-to-all")

    assert said.out.split() == ["h0", "h1", "h2", "h3"]
    assert "the given order is kept" in said.err


@pytest.fixture
def slow_host(order) -> str:
    """A network in which one host is ten times as slow as the others."""
    rng = np.random.default_rng(2)
    rates = 125e6 * rng.normal(1, 0.02, (8, 8))
    rates[5, :] /= 10
    rates[:, 5] /= 10
    np.fill_diagonal(rates, np.inf)
    hosts = [f"h{index}" for index in range(8)]
    fl.Network(hosts, np.where(np.eye(8), 0, 1e-4), rates).save("slow.net.npz")
    return "slow.net.npz"


EIGHT = ",".join(f"h{index}" for index in range(8))


def test_bad_host_is_named_for_people_slurm_and_files(order, slow_host: str) -> None:
    said = order("--network", slow_host, "-H", EIGHT, "--bad-hosts", "nodes.txt", "--fail-on-bad")

    assert said.code == 3
    assert "--exclude=h5" in said.err
    assert Path("nodes.txt").read_text() == "h5\n"


def test_bad_host_is_left_out_as_a_spare_one(order, slow_host: str) -> None:
    said = order("--network", slow_host, "-H", EIGHT, "--spare", "1")

    assert said.code == 0, said.err
    assert sorted(said.out.split()) == ["h0", "h1", "h2", "h3", "h4", "h6", "h7"]
    assert "left out: h5" in said.err


def test_program_becomes_the_process_and_gets_the_order(tmp_path: Path) -> None:
    own = socket.gethostname()
    hosts = [own, "other.invalid"]
    fl.Network(hosts, np.zeros((2, 2)), np.where(np.eye(2), np.inf, 1e8)).save(
        tmp_path / "two.net.npz"
    )
    words = ["order", "--network", "two.net.npz", "-H", ",".join(hosts)]
    # By its name alone it is known how it takes the order.
    torchrun = tmp_path / "torchrun"
    torchrun.write_text("#!/bin/sh\necho $PET_NODE_RANK/$PET_NNODES $MASTER_ADDR\n")
    torchrun.chmod(0o755)
    words += ["--exec", "--", "./torchrun"]

    done = subprocess.run(
        [sys.executable, "-m", "fairlead", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, f"0/2 {own}\n"), done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--pattern", "star", *BY_FILE], 1, "pattern 'star': there are ring, gloo, tree"),
        (["--pattern", "grid:4x9", *BY_FILE], 1, "is for 36 ranks, but there are 4 hosts"),
        (["--pattern", "grid:x", *BY_FILE], 1, "expected grid:AxB"),
        (["--pattern", "cloud.net.npz", *BY_FILE], 1, "cloud.net.npz"),
        (["--network", "gone.net.npz", "-H", SPEC], 1, "gone.net.npz"),
        (["--network", "cloud.net.npz", "-H", "h0,h9"], 1, "'h9' is not in"),
        (["--spare", "4", *BY_FILE], 1, "spare: 4 of 4 hosts leave none"),
        (["--format", "torchrun", *BY_FILE], 1, "this machine is none of the hosts"),
        (["-o", "no/where", *BY_FILE], 1, "there is no folder"),
        (["--hostfile", "gone.txt"], 1, "gone.txt: hostfile cannot be read"),
        ([], 1, "no hosts: give --hostfile FILE"),
        (["-H", "far.invalid"], 1, "far.invalid: no name service knows its address"),
        (["--size", "many", *BY_FILE], 2, "many"),
        (["--format", "magic", *BY_FILE], 2, "unknown name 'magic'"),
        (["--join", "h0:99999", "-H", SPEC], 2, "the port must be a number"),
        (["--join", "h0", "--listen", "h1", "-H", SPEC], 2, "does not go together"),
        (["--join", "h0", *BY_FILE], 2, "hosts that meet measure over TCP"),
        (["--num-hosts", "2", "-H", SPEC], 2, "needs --join or --listen"),
        (["--exec", *BY_FILE], 2, "needs a program"),
        (["--exec", *BY_FILE, "--", "srun"], 2, "needs -o FILE"),
        (["--exec", *BY_FILE, "--", "./solver"], 2, "needs -o FILE"),
        ([*BY_FILE, "--", "srun"], 2, "a program needs --exec"),
        (
            ["--exec", *BY_FILE, "--", "torchrun", "--rdzv_backend", "c10d", "train.py"],
            2,
            "sorts hosts by their names with --rdzv_backend=c10d",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(order, arguments, code: int, said: str) -> None:
    refused = order(*arguments)

    assert refused.code == code
    assert refused.out == ""
    message = [line for line in refused.err.splitlines() if line]
    assert said in message[-1]
    if code == 1:
        assert len(message) == 1
