# SPDX-License-Identifier: Apache-2.0
"""The plan for placing topologies: what is written, and what is refused."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fairlead as fl
from fairlead.launch.host_names import further_names
from fairlead.plan import mean_message_bytes, write_reorder_plan


def network(*hosts: str) -> fl.Network:
    size = len(hosts)
    latency_s = np.where(np.eye(size), 0.0, 5e-5)
    return fl.Network(hosts, latency_s, np.where(np.eye(size), np.inf, 1 / 3))


def test_plan_is_the_documented_text(tmp_path: Path) -> None:
    write_reorder_plan(tmp_path / "plan", network("a.invalid", "b.invalid"), 1000)

    assert (tmp_path / "plan" / "network.txt").read_text() == (
        "fairlead-network 1\n"
        "num_hosts 2\n"
        "host a.invalid\n"
        "host b.invalid\n"
        "latency_s 0.0 5e-05\n"
        "latency_s 5e-05 0.0\n"
        "bandwidth_Bps inf 0.3333333333333333\n"
        "bandwidth_Bps 0.3333333333333333 inf\n"
        "end\n"
    )
    assert (tmp_path / "plan" / "reorder.txt").read_text() == (
        "fairlead-reorder 1\nmessage_bytes 1000.0\nend\n"
    )


def test_this_machine_is_known_by_its_own_name(tmp_path: Path) -> None:
    write_reorder_plan(tmp_path, network("localhost", "b.invalid"))

    hosts = (tmp_path / "network.txt").read_text().splitlines()[2:4]
    assert hosts[0].split()[:3] == ["host", "localhost", socket.gethostname()]
    assert hosts[1] == "host b.invalid"


def test_addresses_count_as_names_unless_every_machine_has_them() -> None:
    assert further_names("192.0.2.7") == []
    assert "127.0.0.1" not in further_names("localhost")


@pytest.mark.parametrize("size", [0, -1, float("nan"), float("inf")])
def test_impossible_message_is_refused(size: float, tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="plan: message_bytes: expected a finite number > 0"):
        write_reorder_plan(tmp_path, network("a.invalid"), size)


def test_unmeasured_pair_is_refused(tmp_path: Path) -> None:
    gap = network("a.invalid", "b.invalid")
    gap.latency_s[1, 0] = np.nan

    with pytest.raises(fl.TopologyError, match=r"plan: b\.invalid -> a\.invalid was not measured"):
        write_reorder_plan(tmp_path, gap)
    assert not any(tmp_path.iterdir())


def test_name_with_a_space_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fl.InputError, match="plan: host name 'two words' is not usable"):
        write_reorder_plan(tmp_path, network("two words"))


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(fl.InputError, match="file/plan: cannot be made"):
        write_reorder_plan(tmp_path / "file" / "plan", network("a.invalid"))


def test_mean_message_counts_messages_and_exchanges() -> None:
    one_pair = sp.csr_array(np.array([[0, 1], [0, 0]]))
    traffic = fl.Traffic(
        bytes=one_pair * 100, messages=one_pair * 2,
        exchange_bytes=one_pair * 500, exchange_messages=one_pair,
    )  # fmt: skip

    assert mean_message_bytes(traffic) == 200
    assert mean_message_bytes(fl.Traffic(bytes=one_pair * 0, messages=one_pair * 0)) == 65536
