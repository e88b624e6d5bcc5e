# SPDX-License-Identifier: Apache-2.0
"""Where a network comes from: what the user writes, and what is then read or measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.measure.network_sources import (
    SOURCES,
    Measuring,
    network_from,
    network_source,
    source_kind,
)
from fairlead.measure.network_sources.file import FileSource
from fairlead.measure.network_sources.probe import KeptSource, ProbeSource
from fairlead.measure.network_sources.tcp import TcpSource
from fairlead.measure.probe_program import ProbeProgram

CLUSTER = fl.Cluster.uniform(["a", "b"], slots=1)
NETWORK = fl.Network(["a", "b"], np.full((2, 2), 1e-5), np.full((2, 2), 1e8))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FAIRLEAD_LAB_HOSTFILE", raising=False)


class Prober:
    """A probe that always finds the same, and counts."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, _launcher: object, _cluster: object, **options: Any) -> fl.Network:
        self.asked.append(options)
        return NETWORK


def measuring(prober: Prober, **options: Any) -> Measuring:
    program = ProbeProgram(OpenMpi4(Path("mpirun"), (4, 1, 4)), ("--report",))
    return Measuring(lambda: program, probe=prober, **options)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (None, KeptSource),
        ("probe:", ProbeSource),
        ("tcp:", TcpSource),
        ("cloud.net.npz", FileSource),
        ("probe", FileSource),
    ],
)
def test_what_the_user_writes_names_a_kind_of_source(text: str | None, kind: type) -> None:
    assert source_kind(text) is kind


def test_every_kind_but_the_default_says_how_it_is_named() -> None:
    assert [kind for kind in SOURCES if not kind.form] == [KeptSource]


def test_a_file_is_read_and_no_launcher_is_looked_for(tmp_path: Path) -> None:
    NETWORK.save(tmp_path / "a.net.npz")

    def program() -> ProbeProgram:
        raise AssertionError("a launcher was looked for")

    source = network_source(str(tmp_path / "a.net.npz"), Measuring(program))

    assert network_from(source, None).hosts == NETWORK.hosts
    assert (source.is_given, source.profile_path(CLUSTER)) == (True, None)


def test_a_probe_gets_what_the_user_asked_for_and_is_reported() -> None:
    prober, narrator = Prober(), RecordingNarrator()
    how = measuring(prober, narrator=narrator, mode="full", budget_s=2.0, contention=True)

    assert network_from(network_source("probe:", how), CLUSTER) is NETWORK

    (options,) = prober.asked
    asked = {name: options[name] for name in ("mode", "budget_s", "contention", "launcher_args")}
    assert asked == {
        "mode": "full",
        "budget_s": 2.0,
        "contention": True,
        "launcher_args": ("--report",),
    }
    assert narrator.lines == ["network: probing 2 hosts (full)"]


def test_what_was_measured_is_kept_and_serves_the_next_run_only_by_default() -> None:
    prober = Prober()
    for text in (None, None, "probe:"):
        network_from(network_source(text, measuring(prober)), CLUSTER)

    assert len(prober.asked) == 2


def test_nothing_is_kept_where_that_is_not_wanted() -> None:
    prober = Prober()
    for _ in range(2):
        network_from(network_source(None, measuring(prober, keeps_profiles=False)), CLUSTER)

    assert len(prober.asked) == 2


def test_a_kept_network_that_no_longer_holds_is_measured_anew() -> None:
    prober = Prober()
    for _ in range(2):
        how = measuring(prober, check=lambda *_all: None)
        network_from(network_source(None, how), CLUSTER)

    assert len(prober.asked) == 2


def test_hosts_have_to_be_said_where_they_are_measured() -> None:
    with pytest.raises(fl.InputError, match=r"probe:.* hosts are to be measured"):
        network_from(network_source("probe:", measuring(Prober())), None)


def test_only_what_is_measured_is_called_so() -> None:
    assert {kind.basis for kind in SOURCES if kind.has_true_rates} == {"the measured rates"}
    for text in ("site.topo.npz", "oracle:http://monitor:8765"):
        kind = source_kind(text)
        assert not kind.has_true_rates
        assert "measured" not in kind.basis
