# SPDX-License-Identifier: Apache-2.0
"""The probe under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS, processes_with, wait_until
from probing import NAMES, find_ranks, hosts, probe_that_loses_rank_3, write_hostfile

from fairlead.act.launch import Launcher, detect
from fairlead.errors import InputError, ProbeError
from fairlead.measure.probe import probe
from fairlead.model.network import Network

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]


def others(network: Network) -> np.ndarray:
    return ~np.eye(network.num_hosts, dtype=bool)


@pytest.mark.parametrize("num_hosts", [1, 2, 3, 5, 8])
def test_every_pair_is_measured_both_ways(launcher: Launcher, num_hosts: int) -> None:
    network = probe(launcher, hosts(*NAMES[:num_hosts]), "quick", max_samples=6)

    off = others(network)
    assert tuple(network.hosts) == NAMES[:num_hosts]
    assert network.unmeasured_pairs() == []
    assert np.all(network.latency_s[off] > 0)
    assert np.all(np.isfinite(network.bandwidth_Bps[off]))
    assert network.samples is not None and np.all(network.samples[off] == 12)
    assert network.origin["message_bytes"] == 1024


def test_full_probe_sends_large_messages(launcher: Launcher) -> None:
    network = probe(launcher, hosts(*NAMES[:2]), "full", max_samples=7)

    assert network.unmeasured_pairs() == []
    assert (network.origin["round_trip_bytes"], network.origin["message_bytes"]) == (1, 8 << 20)


def test_the_median_lies_in_its_interval(one_launcher: Launcher) -> None:
    network = probe(one_launcher, hosts(*NAMES[:4]), "quick", max_samples=30, target_ratio=0.001)

    off = others(network)
    for name in ("latency_{}s", "bandwidth_{}Bps"):
        low, middle, high = (
            getattr(network, name.format(part))[off] for part in ("low_", "", "high_")
        )
        assert np.all(low <= middle) and np.all(middle <= high)


def test_a_wide_target_stops_sampling_before_the_cap(one_launcher: Launcher) -> None:
    network = probe(one_launcher, hosts(*NAMES[:3]), "quick", max_samples=500, target_ratio=1e9)

    # Six samples are the fewest that have an interval, of latency and bandwidth each.
    assert network.samples is not None
    assert np.all(network.samples[others(network)] == 12)


def test_no_more_than_the_cap_is_sampled(one_launcher: Launcher) -> None:
    network = probe(one_launcher, hosts(*NAMES[:3]), "quick", max_samples=2)

    assert network.samples is not None
    assert np.all(network.samples[others(network)] == 4)


def test_no_budget_measures_nothing_and_says_so(one_launcher: Launcher) -> None:
    network = probe(one_launcher, hosts(*NAMES[:4]), "quick", budget_s=1e-9)

    assert len(network.unmeasured_pairs()) == 12
    assert network.samples is not None and network.samples.sum() == 0


def test_budget_bounds_a_probe_that_would_never_be_precise(one_launcher: Launcher) -> None:
    network = probe(
        one_launcher, hosts(*NAMES[:4]), "quick", budget_s=5, max_samples=10**9, target_ratio=1e-9
    )

    assert network.unmeasured_pairs() == []
    assert network.samples is not None and network.samples[others(network)].min() >= 12
    # The budget is kept up to the one batch per pair that was begun within it.
    assert network.origin["probing_s"] < 50


def test_turns_are_taken_with_any_concurrency(one_launcher: Launcher) -> None:
    for concurrency in (1, 2, 100):
        network = probe(one_launcher, hosts(*NAMES[:5]), concurrency=concurrency)
        assert network.unmeasured_pairs() == []
        assert network.origin["concurrency"] == min(concurrency, 2)


@pytest.mark.parametrize(("concurrency", "num_rounds"), [(1, 6), (2, 3)])
def test_rounds_are_reported_as_progress(
    one_launcher: Launcher, concurrency: int, num_rounds: int
) -> None:
    seen: list[tuple[int, int]] = []
    probe(
        one_launcher,
        hosts(*NAMES[:4]),
        concurrency=concurrency,
        on_progress=lambda *step: seen.append(step),
    )
    assert (num_rounds, num_rounds) in seen
    assert {total for _, total in seen} == {num_rounds}


def test_progress_is_complete_where_its_lines_come_too_late(
    one_launcher: Launcher, tmp_path: Path
) -> None:
    silent = tmp_path / "mpirun"
    silent.write_text(f'#!/bin/sh\nexec {one_launcher.path} "$@" 2>/dev/null\n')
    silent.chmod(0o755)
    seen: list[tuple[int, int]] = []
    probe(
        detect(str(silent)),
        hosts(*NAMES[:4]),
        concurrency=1,
        on_progress=lambda *step: seen.append(step),
    )
    assert seen == [(6, 6)]


def test_unreachable_host_is_named(launcher: Launcher) -> None:
    with pytest.raises(ProbeError, match=r"'downtown'.*No route to host.*--skip-unreachable"):
        probe(launcher, hosts("ash", "downtown", "birch"))


def test_host_that_never_answers_is_named_in_time(one_launcher: Launcher) -> None:
    begin = time.monotonic()
    with pytest.raises(ProbeError, match=r"'asleep'.*no answer within 1 s"):
        probe(one_launcher, hosts("ash", "asleep"), reach_timeout_s=1)
    assert time.monotonic() - begin < 250  # The host's agent sleeps for 300 s.


def test_unreachable_host_is_skipped_on_request(launcher: Launcher) -> None:
    network = probe(launcher, hosts("ash", "downtown", "birch"), skip_unreachable=True)

    assert network.hosts == ("ash", "downtown", "birch")
    assert np.isfinite(network.latency_s[0, 2]) and np.isfinite(network.bandwidth_Bps[2, 0])
    assert len(network.unmeasured_pairs()) == 4
    assert "No route" in network.unreachable["downtown"]


def test_without_any_reachable_host_there_is_no_network(one_launcher: Launcher) -> None:
    with pytest.raises(ProbeError, match="no host can be reached"):
        probe(one_launcher, hosts("down1", "down2"), skip_unreachable=True)


@pytest.mark.parametrize(
    "argument",
    [{"mode": "other"}, {"target_ratio": 0}, {"max_samples": 0}, {"budget_s": 0.0},
     {"concurrency": -1}, {"silence_timeout_s": 0}, {"timeout_s": -1}],
)  # fmt: skip
def test_impossible_argument_is_named(one_launcher: Launcher, argument: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(argument))):
        probe(one_launcher, hosts("ash"), **argument)  # type: ignore[arg-type]


class Endless:
    """`fairlead probe` on four hosts in a process of its own, with far more to do than time."""

    def __init__(self, folder: Path, *options: str):
        self.tag = f"PROBE_TEST={os.getpid()}-{folder.name}"
        self.network = folder / "net.npz"
        hostfile = write_hostfile(folder, NAMES[:4])
        name, value = self.tag.split("=")
        words = ["probe", "--hostfile", str(hostfile), "-o", str(self.network), "--cap", "1000000"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fairlead", *words, "--target", "1e-9", *options],
            env={**os.environ, name: value, "FAIRLEAD_MPIRUN": MPIS["openmpi-4"].mpirun},
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: len(find_ranks(self.tag)) == 4 or self.process.poll() is not None)

    def end(self) -> tuple[int, str]:
        _, stderr = self.process.communicate()
        wait_until(lambda: not processes_with(self.tag))
        return self.process.returncode, stderr


def test_interrupted_probe_leaves_nothing(tmp_path: Path) -> None:
    endless = Endless(tmp_path)

    endless.process.send_signal(signal.SIGINT)
    returncode, _ = endless.end()

    assert returncode == 130
    assert not list(tmp_path.glob("*.npz*"))


def test_probe_whose_process_is_killed_fails_in_one_line_and_writes_nothing(tmp_path: Path) -> None:
    endless = Endless(tmp_path)

    os.kill(find_ranks(endless.tag)[-1], signal.SIGKILL)
    returncode, stderr = endless.end()

    assert returncode == 1
    assert stderr.startswith("fairlead: the measurement failed:") and stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.npz*"))


def test_probe_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    returncode, stderr = Endless(tmp_path, "--timeout", "15s").end()

    assert returncode == 1
    # What starting the launcher took, as on a busy machine, is no longer left.
    assert re.search(r"did not end within [0-9.]+ s and was stopped", stderr)
    assert not list(tmp_path.glob("*.npz*"))


def test_the_time_limit_is_the_reason_whatever_the_launcher_has_said(
    one_launcher: Launcher, tmp_path: Path
) -> None:
    slow = tmp_path / "mpirun"
    slow.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && exec {one_launcher.path} "$@"\n'
        "echo WARNING: connect failed >&2\n"
        "exec sleep 1000\n"
    )
    slow.chmod(0o755)
    with pytest.raises(ProbeError, match=r"exit code [0-9]+: mpirun did not end within"):
        probe(detect(str(slow)), hosts(*NAMES[:2]), timeout_s=2)


def test_silent_process_costs_only_its_own_pairs(tmp_path: Path) -> None:
    # Not before the first round: a process that is lost in MPI_Init keeps all others in there.
    network = probe_that_loses_rank_3(
        tmp_path, signal.SIGSTOP, num_hosts=5, is_begun="True",
        options="max_samples=2000, target_ratio=1e-9, concurrency=100",
    )  # fmt: skip

    assert network.unmeasured_pairs()
    assert all(NAMES[3] in pair for pair in network.unmeasured_pairs())
