# SPDX-License-Identifier: Apache-2.0
"""A placed start gives ranks the CPUs of the launcher's own start, or is refused."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.launch import BindingLostError, HostedRank, LaunchSpec, RankCpus, with_binding
from fairlead.act.launch._placed_start import has_placing_option, start_of_placement
from fairlead.act.launch._spec_checks import check_spec
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.errors import LaunchError

LAUNCHER = OpenMpi4(Path("mpirun"), (4, 1, 4))
HOSTS = fl.Cluster(("a", "b"), (2, 2))


def placed(*host_of_rank: int) -> LaunchSpec:
    placement = fl.Placement(HOSTS.hosts, np.array(host_of_rank), "optimize")
    return LaunchSpec(("./a",), len(host_of_rank), HOSTS, placement)


class Starts:
    """Binds by slot without a placement; with one as the lists that a test gives."""

    def __init__(self, *, plain: str, takes: Sequence[bool] = (), is_bound: bool = True) -> None:
        self.specs: list[LaunchSpec] = []
        self._plain, self._takes, self._is_bound = plain, takes, is_bound

    def __call__(self, spec: LaunchSpec) -> list[HostedRank]:
        self.specs.append(spec)
        number = spec.num_ranks or 4
        if spec.placement is None:
            names = ["a", "a", "b", "b"][:number]
            lists = ["0", "1", "0", "1"] if self._is_bound else ["0-1"] * 4
        else:
            names = spec.placement.host_names()
            takes = spec.cpus is not None and spec.cpus.by_program in self._takes
            assert spec.cpus is None or len(spec.cpus.lists) == number
            lists = list(spec.cpus.lists) if spec.cpus and takes else [self._plain] * number
        return [HostedRank(name, cpus) for name, cpus in zip(names, lists, strict=False)]


def bound(spec: LaunchSpec, starts: Starts) -> LaunchSpec:
    own = starts(dataclasses.replace(spec, placement=None))
    return with_binding(LAUNCHER, spec, own, Path("/nowhere"), starts)


def test_what_the_launcher_leaves_unbound_stays_as_it_is() -> None:
    starts = Starts(plain="0-1", is_bound=False)
    spec = placed(0, 1, 0, 1)
    assert bound(spec, starts) == spec
    assert len(starts.specs) == 2


def test_lists_of_the_launcher_are_asked_for_in_the_order_of_each_hosts_ranks() -> None:
    spec = bound(placed(0, 1, 0, 1), Starts(plain="0-1", takes=[False, True]))
    assert spec.cpus == RankCpus(("0", "0", "1", "1"), by_program=False)


def test_where_the_launcher_takes_no_lists_each_rank_asks_itself() -> None:
    # As Hydra 4.0.2, which puts all ranks of a host on its first core.
    spec = bound(placed(1, 0, 1, 0), Starts(plain="0", takes=[True]))
    assert spec.cpus == RankCpus(("0", "0", "1", "1"), by_program=True)


def test_a_binding_that_cannot_be_had_is_named() -> None:
    message = "a rank on a has CPUs 0-1, by the launcher CPUs 0"
    with pytest.raises(BindingLostError, match=message):
        bound(placed(0, 1, 0, 1), Starts(plain="0-1"))


def test_a_host_with_more_ranks_than_by_the_launcher_has_cpus_for_them_too() -> None:
    # By the launcher both are on the first host.
    starts = Starts(plain="0-1", takes=[False])
    spec = bound(placed(0, 1), starts)
    assert spec.cpus == RankCpus(("0", "0"), by_program=False)
    assert [each.num_ranks for each in starts.specs if each.placement is None] == [2, 4]


def test_a_placement_replaces_what_would_overrule_it() -> None:
    own = ("-x", "A", "--map-by", "slot:PE=2", "-ppn=2", "--bind-to", "core", "--bynode")
    spec = LaunchSpec(("./a",), 2, HOSTS, launcher_args=own)
    assert start_of_placement(spec) == spec
    both = placed(0, 1)
    own_binding = start_of_placement(dataclasses.replace(both, launcher_args=own)).launcher_args
    assert own_binding == ("-x", "A", "--bind-to", "core")
    cpus = RankCpus(("0", "1"), by_program=False)
    with_cpus = dataclasses.replace(both, launcher_args=own, cpus=cpus)
    assert start_of_placement(with_cpus).launcher_args == ("-x", "A")
    assert has_placing_option(own)
    assert not has_placing_option(["-x", "map-by"])


def test_a_rank_that_asks_itself_has_its_cpus_and_its_programs_exit_code() -> None:
    last = max(os.sched_getaffinity(0))
    program = (
        "/bin/sh",
        "-c",
        'grep Cpus_allowed_list /proc/self/status; echo "$0$1"; exit 7',
        "x",
    )
    spec = LaunchSpec(
        (*program, "two words"), 2, HOSTS, placed(0, 1).placement,
        cpus=RankCpus(("0", str(last)), by_program=True),
    )  # fmt: skip
    started = start_of_placement(spec)
    done = subprocess.run(
        started.program,
        env={**os.environ, **started.env, "PMI_RANK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["Cpus_allowed_list:", str(last), "xtwo", "words"]
    assert done.returncode == 7
    assert started.launcher_args == ("-bind-to", "none")


def test_where_the_launchers_cpus_are_not_known_nothing_is_started() -> None:
    starts = Starts(plain="0")
    spec = placed(0, 1, 0, 1)
    own = [HostedRank(host, "") for host in ("a", "a", "b", "b")]
    assert with_binding(LAUNCHER, spec, own, Path("/nowhere"), starts) == spec
    assert starts.specs == []


@pytest.mark.parametrize(
    "words",
    [
        "-pernode",
        "-nolocal",
        "--ntasks-per-socket=2",
        "--mca rmaps_base_mapping_policy node",
        "-gmca rmaps_base_ranking_policy slot",
        "--mca rmaps ppr",
        "--mca orte_rankfile f",
        "--prtemca rmaps_default_mapping_policy node",
    ],
)
def test_options_and_parameters_that_place_ranks_are_replaced(words: str) -> None:
    own = ("-x", "A", *words.split(), "--mca", "btl", "tcp,self")

    left = start_of_placement(dataclasses.replace(placed(0, 1), launcher_args=own)).launcher_args

    assert left == ("-x", "A", "--mca", "btl", "tcp,self")
    assert has_placing_option(own)
    assert not has_placing_option(left)


@pytest.mark.parametrize("word", ["--multi-prog", "--app=f", "-configfile", "--configfile=f", ":"])
def test_several_programs_are_refused_before_anything_starts(word: str) -> None:
    with pytest.raises(LaunchError, match="which Fairlead does not support; nothing was started"):
        check_spec(LaunchSpec(("./p",), 1, launcher_args=(word,)), set())
