# SPDX-License-Identifier: Apache-2.0
"""The probe of a part of the pairs, under real MPIs, on invented hosts of this machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS
from probing import NAMES, hosts, write_hostfile
from typer.testing import CliRunner

from fairlead.act.launch import Launcher, detect
from fairlead.cli import app
from fairlead.errors import InputError
from fairlead.measure.probe import probe
from fairlead.measure.sampling import SampleDesign
from fairlead.model.network import Network

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]


@pytest.fixture(params=["openmpi-4", "mpich-4"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return detect(MPIS[request.param].mpirun)


def measured_pairs(network: Network) -> int:
    assert network.samples is not None
    return int(np.count_nonzero(np.triu(network.samples)))


def test_only_the_chosen_pairs_are_measured(launcher: Launcher) -> None:
    network = probe(launcher, hosts(*NAMES), sample=SampleDesign(0.4))

    # 40 % of 91 pairs; the others are estimates with error bars.
    assert measured_pairs(network) == 36
    assert network.unmeasured_pairs() == []
    assert network.origin["how"] == "sampled"
    assert network.origin["sample"]["measured_pairs"] == 36
    assert network.origin["sample"]["all_pairs"] == 91
    estimated = network.is_estimated()
    assert np.count_nonzero(estimated) == 2 * (91 - 36)
    assert network.bandwidth_low_Bps is not None and network.bandwidth_high_Bps is not None
    assert np.all(network.bandwidth_low_Bps[estimated] < network.bandwidth_Bps[estimated])
    assert np.all(network.bandwidth_high_Bps[estimated] > network.bandwidth_Bps[estimated])


@pytest.mark.parametrize("num_hosts", [1, 2, 5, 8])
def test_all_pairs_of_few_hosts_are_measured(launcher: Launcher, num_hosts: int) -> None:
    network = probe(launcher, hosts(*NAMES[:num_hosts]), sample=SampleDesign())

    num_pairs = num_hosts * (num_hosts - 1) // 2
    assert measured_pairs(network) == num_pairs
    assert not network.is_estimated().any()
    assert network.origin["how"] == "measured"
    assert network.origin["sample"] == {"measured_pairs": num_pairs, "all_pairs": num_pairs}


@pytest.mark.parametrize("concurrency", [1, 100])
def test_chosen_pairs_are_measured_with_any_concurrency(
    one_launcher: Launcher, concurrency: int
) -> None:
    network = probe(
        one_launcher, hosts(*NAMES[:11]), sample=SampleDesign(0.5), concurrency=concurrency
    )

    assert measured_pairs(network) == 28
    assert network.unmeasured_pairs() == []


def test_unreachable_host_stays_unknown_and_the_rest_is_completed(one_launcher: Launcher) -> None:
    names = (*NAMES[:4], "downtown", *NAMES[4:12])
    network = probe(one_launcher, hosts(*names), sample=SampleDesign(0.5), skip_unreachable=True)

    assert measured_pairs(network) == 33
    assert all("downtown" in pair for pair in network.unmeasured_pairs())
    assert len(network.unmeasured_pairs()) == 24


def test_what_the_budget_does_not_reach_is_estimated(one_launcher: Launcher) -> None:
    network = probe(
        one_launcher,
        hosts(*NAMES[:12]),
        sample=SampleDesign(0.6),
        budget_s=2.0,
        max_samples=10**9,
        target_ratio=1e-9,
    )

    assert 0 < measured_pairs(network) <= 40
    assert network.unmeasured_pairs() == []


@pytest.mark.parametrize(
    ("plan", "field"),
    [(SampleDesign(0.0), "ratio"), (SampleDesign(1.5), "ratio"), (SampleDesign(0.1), "at least"),
     (SampleDesign(error_bar_ratio=0.0), "error_bar_ratio"), (SampleDesign(seed=-1), "seed")],
)  # fmt: skip
def test_impossible_plan_is_named(one_launcher: Launcher, plan: SampleDesign, field: str) -> None:
    with pytest.raises(InputError, match=f"sample: .*{field}"):
        probe(one_launcher, hosts(*NAMES), sample=plan)


def test_command_says_what_was_estimated(tmp_path: Path) -> None:
    hostfile = write_hostfile(tmp_path, NAMES)
    path = tmp_path / "net.npz"
    words = ["probe", "--hostfile", str(hostfile), "-o", str(path), "--sample-ratio", "0.4"]

    done = CliRunner().invoke(app, [*words, "--mpirun", MPIS["openmpi-4"].mpirun])

    assert done.exit_code == 0, done.output
    assert "60 % of the directed pairs are estimates (110 of 182)" in done.output
    assert Network.load(path).is_estimated().sum() == 110


def test_command_refuses_a_share_that_is_too_small(tmp_path: Path) -> None:
    hostfile = write_hostfile(tmp_path, NAMES)
    words = ["probe", "--hostfile", str(hostfile), "-o", str(tmp_path / "n"), "--sample-ratio"]

    done = CliRunner().invoke(app, [*words, "0.05"])

    assert done.exit_code != 0
    assert not (tmp_path / "n").exists()
