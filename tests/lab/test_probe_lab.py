# SPDX-License-Identifier: Apache-2.0
"""The probe in an emulated cloud finds the rates that the lab shapes its pairs to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from busy_machine import measured_until
from scipy.stats import spearmanr

from fairlead.lab import Lab, Scenario
from fairlead.model.network import Network

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

ENV = {
    **os.environ,
    "FAIRLEAD_MPIRUN": "mpirun.openmpi",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def fairlead_probe(lab: Lab, *options: str) -> subprocess.CompletedProcess[str]:
    """`fairlead probe` as a user on the head node would call it."""
    words = ["probe", "--hostfile", str(lab.hostfile), *options]
    return lab.run(
        [sys.executable, "-m", "fairlead", *words],
        env=ENV, capture_output=True, text=True, check=False,
    )  # fmt: skip


def measured(lab: Lab, folder: Path, *options: str) -> Network:
    path = folder / "cloud.net.npz"
    done = fairlead_probe(lab, "-o", str(path), *options)
    assert done.returncode == 0, done.stderr
    return Network.load(path)


# Rates low enough that two processes on a busy machine with two cores can keep up with them.
PAIRS = {"median": "300Mbit/s", "sigma": 0.5, "seed": 3, "asymmetry": 0.5}


def is_within_five_percent(network: Network, lab: Lab) -> bool:
    """Whether the median directed pair has the rate that the lab shapes it to."""
    off = ~np.eye(network.num_hosts, dtype=bool)
    errors_ratio = np.abs(network.bandwidth_Bps[off] / lab.shaped_Bps()[off] - 1)
    return bool(np.median(errors_ratio) < 0.05)


def fully_measured(lab: Lab, folder: Path) -> Network:
    return measured_until(
        lambda network: is_within_five_percent(network, lab),
        lambda: measured(lab, folder, "--full", "--cap", "5", "--concurrency", "2"),
    )


def cloud(num_hosts: int, **fields: object) -> Scenario:
    return Scenario.model_validate(
        {"name": "probed", "hosts": num_hosts, "nic": "800Mbit/s"} | fields
    )


def test_full_probe_of_uneven_pairs_is_within_five_percent(tmp_path: Path) -> None:
    with Lab.up(cloud(4, pairs=PAIRS)) as lab:
        network = fully_measured(lab, tmp_path)

        assert network.unmeasured_pairs() == []
        assert is_within_five_percent(network, lab)


def test_full_probe_of_equal_pairs_is_within_five_percent(tmp_path: Path) -> None:
    with Lab.up(cloud(4, nic="300Mbit/s")) as lab:
        network = fully_measured(lab, tmp_path)

        assert is_within_five_percent(network, lab)


def test_quick_probe_ranks_pairs_by_bandwidth_in_both_directions(tmp_path: Path) -> None:
    given = [
        {"src": "h0", "dst": "h1", "rate": "20Mbit/s"},
        {"src": "h2", "dst": "h0", "rate": "50Mbit/s"},
        {"src": "h1", "dst": "h2", "rate": "100Mbit/s"},
    ]
    with Lab.up(cloud(3, pairs={"given": given})) as lab:
        off = ~np.eye(3, dtype=bool)
        shaped = lab.shaped_Bps()[off]
        slow = shaped < shaped.max()

        def are_ranked(rates: np.ndarray) -> bool:
            is_in_order = spearmanr(rates[slow], shaped[slow]).statistic == 1
            return bool(is_in_order and rates[slow].max() < rates[~slow].min())

        def probe() -> np.ndarray:
            # Other load lowers a rate that six short trains show, and raises it where messages
            # waited for a receiver and then arrived at once.
            found = [measured(lab, tmp_path, "--quick").bandwidth_Bps for _probe in range(3)]
            return np.median(found, axis=0)[off]

        rates = measured_until(are_ranked, probe)
        assert are_ranked(rates), rates


def test_probe_sees_the_mean_of_both_delays_as_latency(tmp_path: Path) -> None:
    given = [
        {"src": "h0", "dst": "h1", "delay": "60ms"},
        {"src": "h1", "dst": "h0", "delay": "20ms"},
        {"src": "h2", "dst": "h0", "delay": "200ms"},
    ]
    with Lab.up(cloud(3, latency={"pairs": {"given": given}})) as lab:
        network = measured(lab, tmp_path, "--quick")

    # Half a round trip; the machine's own latency comes on top, least in the fastest of six.
    assert network.latency_low_s is not None
    for pair, wanted_s in (((0, 1), 40e-3), ((0, 2), 100e-3), ((1, 2), 0)):
        for src, dst in (pair, pair[::-1]):
            assert wanted_s <= network.latency_low_s[src, dst] < wanted_s + 18e-3


def test_cut_host_is_named_and_left_out_on_request(tmp_path: Path) -> None:
    path = tmp_path / "cloud.net.npz"
    with Lab.up(cloud(4)) as lab:
        gone = lab.hosts[1]
        lab.cut_host(gone)

        refused = fairlead_probe(lab, "-o", str(path), "--reach-timeout", "10s")
        skipped = fairlead_probe(
            lab, "-o", str(path), "--reach-timeout", "10s", "--skip-unreachable", "--json"
        )

    assert refused.returncode == 1
    assert repr(gone) in refused.stderr and "--skip-unreachable" in refused.stderr
    assert skipped.returncode == 0, skipped.stderr
    report = json.loads(skipped.stdout)
    assert list(report["unreachable"]) == [gone]
    network = Network.load(path)
    assert len(network.unmeasured_pairs()) == 6
    assert all(gone in pair for pair in network.unmeasured_pairs())


def wait_until(claim: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not claim():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


# Measures while one of the hosts is cut off; the limit of time is half an hour.
PROBE_UNTIL_CUT = """
import sys
from pathlib import Path
from fairlead.act.launch import detect, read_hostfile
from fairlead.measure.probe import probe
hostfile, begun, output, contention = sys.argv[1:]
def on_progress(done, total):
    if bool(contention) == (total > 100):
        Path(begun).touch()
probe(
    detect(None), read_hostfile(Path(hostfile)), "full", max_samples=12, target_ratio=1e-9,
    silence_timeout_s=3, contention=bool(contention), concurrency=1, on_progress=on_progress,
).save(output)
"""


def test_host_that_is_lost_while_it_is_measured_is_named_long_before_the_time_limit(
    tmp_path: Path,
) -> None:
    begun, path = tmp_path / "begun", tmp_path / "cloud.net.npz"
    words = [sys.executable, "-c", PROBE_UNTIL_CUT]
    with Lab.up(cloud(4)) as lab, ThreadPoolExecutor() as pool:
        arguments = [str(lab.hostfile), str(begun), str(path), ""]
        done = pool.submit(lab.run, [*words, *arguments], env=ENV, check=True)
        wait_until(begun.exists, 300)
        gone = lab.hosts[3]
        lab.cut_host(gone)
        done.result()

    network = Network.load(path)
    assert list(network.unreachable) == [gone]
    assert "during the measurement" in network.unreachable[gone]
    assert all(gone in pair for pair in network.unmeasured_pairs())


def test_pair_without_a_path_costs_only_itself(tmp_path: Path) -> None:
    # Both hosts can be reached from the head node, but not from each other.
    with Lab.up(cloud(3)) as lab:
        first, second = lab.hosts[1], lab.hosts[2]
        lab.degrade(first, second, 0.0)
        network = measured(lab, tmp_path, "--silence-timeout", "3s")

    missing = {frozenset(pair) for pair in network.unmeasured_pairs()}
    assert missing == {frozenset((first, second))}


def test_budget_leaves_out_what_does_not_fit_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cloud.net.npz"
    slow = [{"src": "h0", "dst": "h1", "rate": "5Mbit/s"}]
    with Lab.up(cloud(2, pairs={"given": slow})) as lab:
        done = fairlead_probe(lab, "-o", str(path), "--full", "--budget", "2s")

    # One message of 8 MiB would take 13 s.
    assert done.returncode == 0, done.stderr
    assert "Not measured: h0 → h1" in done.stdout
    assert Network.load(path).unmeasured_pairs() == [("h0", "h1")]
