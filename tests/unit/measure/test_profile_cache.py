# SPDX-License-Identifier: Apache-2.0
"""Profiles are found again for the same hosts and programs, and for nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.launch import LaunchSpec
from fairlead.measure import profile_cache as cache


class OpenMpi:
    """The part of a launcher that the cache looks at."""

    name = "Open MPI"
    family = "openmpi"
    version = (4, 1, 4)
    path = Path("/usr/bin/mpirun")

    def prepare_command(self, spec: LaunchSpec, work_dir: Path) -> list[str]:
        return [str(self.path), *spec.program, str(work_dir)]


CLUSTER = fl.Cluster.uniform(["a", "b"], slots=2)
HOUR_S = 3600.0


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FAIRLEAD_LAB_HOSTFILE", raising=False)
    return tmp_path / "cache" / "fairlead"


def network(**fields: Any) -> fl.Network:
    latency_s, bandwidth_Bps = [[0, 1e-5], [2e-5, 0]], [[np.inf, 1e8], [2e8, np.inf]]
    return fl.Network(["a", "b"], latency_s, bandwidth_Bps, **fields)


def remember(kept: fl.Network, **how: Any) -> None:
    cache.remember(cache.Profile(cache.profile_path(CLUSTER, OpenMpi(), "quick", **how), kept))


def recall(
    cluster: fl.Cluster = CLUSTER,
    mode: str = "quick",
    max_age_s: float = HOUR_S,
    contention: bool = False,
    **how: Any,
) -> fl.Network | None:
    path = cache.profile_path(cluster, OpenMpi(), mode, contention)
    profile = cache.recall(path, cluster, max_age_s, **how)
    return None if profile is None else profile.network


def traffic() -> fl.Traffic:
    return fl.Traffic(bytes=np.eye(2), messages=np.eye(2))


def test_network_is_recalled_for_the_same_hosts_in_any_order() -> None:
    remember(network())
    turned = fl.Cluster.uniform(["b", "a"], slots=1)
    recalled = recall(turned)
    assert recalled is not None
    assert recalled.hosts == ("b", "a")
    assert recalled.latency_s[0, 1] == 2e-5


@pytest.mark.parametrize(
    ("hosts", "mode"), [(["a", "b", "c"], "quick"), (["a"], "quick"), (["a", "b"], "full")]
)
def test_network_of_other_hosts_or_mode_is_not_recalled(hosts: list[str], mode: str) -> None:
    remember(network())
    assert recall(fl.Cluster.uniform(hosts, 1), mode) is None


@pytest.mark.parametrize(
    ("variable", "is_another"),
    [
        ("OMPI_MCA_btl_tcp_if_include", True),
        ("PRTE_MCA_oob_tcp_if_include", True),
        ("FI_TCP_IFACE", True),
        ("UCX_NET_DEVICES", True),
        ("HYDRA_IFACE", True),
        ("I_MPI_FABRICS", True),
        ("PSM3_NIC", True),
        ("OMP_NUM_THREADS", False),
    ],
)
def test_network_that_another_variable_chose_is_not_recalled(
    variable: str, is_another: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    remember(network())
    monkeypatch.setenv(variable, "eth1")
    assert (recall() is None) == is_another


@pytest.mark.parametrize(
    ("folder", "file", "is_another"),
    [
        ("HOME", ".openmpi/mca-params.conf", True),
        ("HOME", ".prte/mca-params.conf", True),
        ("UCX_CONFIG_DIR", "ucx.conf", True),
        ("HOME", ".bashrc", False),
    ],
)
def test_network_that_a_parameter_file_chose_is_not_recalled(
    folder: str, file: str, is_another: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(folder, str(tmp_path))
    remember(network())
    assert recall() is not None
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("btl_tcp_if_include = ib0\n")

    assert (recall() is None) == is_another


@pytest.mark.parametrize("arguments", [("--tune", "{}"), ("-tune={}",), ("--am", "other,{}")])
def test_a_parameter_file_of_the_launchers_arguments_counts_by_its_text(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "site.conf"
    named = tuple(word.format(file) for word in arguments)
    paths = set()
    for text in ("-mca btl_tcp_if_include ib0\n", "-mca btl_tcp_if_include eth0\n"):
        file.write_text(text)
        paths.add(cache.profile_path(CLUSTER, OpenMpi(), "quick", launcher_args=named))

    assert len(paths) == 2


def test_network_that_launcher_arguments_chose_is_kept_by_itself() -> None:
    cluster = fl.Cluster.uniform(["a", "b"], slots=1)
    paths = {
        cache.profile_path(cluster, OpenMpi(), "quick", launcher_args=arguments)
        for arguments in ((), ("--mca", "btl_tcp_if_include", "eth0"), ("-iface", "eth0"))
    }
    assert len(paths) == 3


def test_network_of_another_lab_of_the_same_name_is_not_recalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostfile = tmp_path / "hostfile"
    hostfile.write_text("a\nb\n")
    monkeypatch.setenv("FAIRLEAD_LAB_HOSTFILE", str(hostfile))
    remember(network())
    assert recall() is not None
    os.utime(hostfile, (1, 1))
    assert recall() is None


def test_old_network_is_not_recalled(own_cache: Path) -> None:
    remember(network())
    (file,) = (own_cache / "networks").iterdir()
    two_hours_ago = time.time() - 2 * HOUR_S
    os.utime(file, (two_hours_ago, two_hours_ago))
    assert recall() is None
    assert recall(max_age_s=3 * HOUR_S) is not None


def test_network_from_the_future_is_not_recalled(own_cache: Path) -> None:
    # A clock that was wrong would keep it fresh until that day comes.
    remember(network())
    (file,) = (own_cache / "networks").iterdir()
    tomorrow = time.time() + 24 * HOUR_S
    os.utime(file, (tomorrow, tomorrow))
    assert recall() is None


def test_pairs_measured_by_long_trains_come_back_with_their_network_and_go_with_it() -> None:
    path = cache.profile_path(CLUSTER, OpenMpi(), "quick")
    by_long_trains = fl.Network(
        ["a", "b"], [[0, np.nan], [3e-5, 0]], [[np.inf, np.nan], [3e8, np.inf]]
    )
    cache.remember(cache.Profile(path, network(), by_long_trains))
    recalled = cache.recall(path, fl.Cluster.uniform(["b", "a"], slots=1), HOUR_S)
    assert recalled is not None and recalled.by_long_trains is not None
    assert recalled.by_long_trains.bandwidth_Bps[0, 1] == 3e8

    cache.remember(cache.Profile(path, network()))
    recalled = cache.recall(path, CLUSTER, HOUR_S)
    assert recalled is not None
    assert recalled.by_long_trains is None


def test_cache_folder_that_is_a_file_is_named(own_cache: Path) -> None:
    own_cache.parent.mkdir()
    own_cache.write_text("")
    assert cache.recall_traffic(["sleep", "1"], 2, OpenMpi()) is None
    with pytest.raises(fl.InputError, match="fairlead/traffic: cannot be made: Not a directory"):
        cache.remember_traffic(traffic(), ["sleep", "1"], 2, OpenMpi())


def test_damaged_profile_is_ignored(own_cache: Path) -> None:
    remember(network())
    (file,) = (own_cache / "networks").iterdir()
    file.write_bytes(b"damaged")
    assert recall() is None


def test_network_without_a_dead_host_is_used_only_where_it_may_be_left_out() -> None:
    without_b = network(unreachable={"b": "no answer"})
    remember(without_b)
    assert recall() is None
    assert recall(skip_unreachable=True) is not None


def test_traffic_is_recalled_for_the_same_program_and_rank_count() -> None:
    cache.remember_traffic(traffic(), ["sleep", "1"], 2, OpenMpi())
    assert cache.recall_traffic(["sleep", "1"], 2, OpenMpi()) is not None
    assert cache.recall_traffic(["sleep", "2"], 2, OpenMpi()) is None
    assert cache.recall_traffic(["sleep", "1"], 4, OpenMpi()) is None


def test_traffic_of_a_rebuilt_program_is_not_recalled(tmp_path: Path) -> None:
    program = tmp_path / "solver"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    cache.remember_traffic(traffic(), [str(program)], 2, OpenMpi())
    program.write_text("#!/bin/sh\nexit 0\n")
    assert cache.recall_traffic([str(program)], 2, OpenMpi()) is None


def test_traffic_is_recalled_only_while_its_input_files_stay_as_they_were(tmp_path: Path) -> None:
    script, output = tmp_path / "solve.sh", tmp_path / "out"
    program = ["sh", str(script), "--fast", str(output)]
    script.write_text("./solver small\n")
    output.write_text("")
    inputs = cache.input_files(program)
    output.write_text("written by the traced run\n")
    cache.remember_traffic(traffic(), program, 2, OpenMpi(), inputs)

    output.write_text("written by another run\n")
    assert cache.recall_traffic(program, 2, OpenMpi()) is not None
    script.write_text("./solver large\n")
    assert cache.recall_traffic(program, 2, OpenMpi()) is None


def test_traffic_is_recalled_with_an_input_file_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    mesh = tmp_path / os.fsdecode("größe.dat".encode("latin-1"))
    mesh.write_text("small\n")
    program = ["sleep", str(mesh)]
    cache.remember_traffic(traffic(), program, 2, OpenMpi(), cache.input_files(program))

    assert cache.recall_traffic(program, 2, OpenMpi()) is not None
    mesh.write_text("a large one\n")
    assert cache.recall_traffic(program, 2, OpenMpi()) is None


def test_times_with_another_input_are_those_of_another_program(tmp_path: Path) -> None:
    script = tmp_path / "solve.sh"
    program = ["sh", str(script)]

    def key() -> str:
        return cache.program_key(program, 2, CLUSTER, OpenMpi())

    def traced_with(text: str) -> str:
        script.write_text(text)
        cache.remember_traffic(traffic(), program, 2, OpenMpi(), cache.input_files(program))
        return key()

    small, again, large = traced_with("./small"), key(), traced_with("./solver large")

    assert small == again
    assert small != large
    # Also where the traffic was given, and nothing was traced for the changed file.
    script.write_text("./solver larger still")
    assert key() not in {small, large}


def test_times_by_another_start_of_the_launcher_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key(launcher: type = OpenMpi, *arguments: str) -> str:
        return cache.program_key(["sleep"], 2, CLUSTER, launcher(), launcher_args=arguments)

    class Later(OpenMpi):
        version = (4, 1, 6)

    keys = {key(), key(Later), key(OpenMpi, "--bind-to", "none")}
    monkeypatch.setenv("OMPI_MCA_btl", "tcp,self")
    assert len(keys | {key()}) == 4
    monkeypatch.delenv("OMPI_MCA_btl")
    assert key() in keys


def test_another_file_as_standard_input_is_another_program(tmp_path: Path) -> None:
    def key(text: str | None) -> str:
        file = tmp_path / "input"
        if text is not None:
            file.write_text(text)
        before = os.dup(0)
        with Path("/dev/null" if text is None else file).open() as source:
            os.dup2(source.fileno(), 0)
        try:
            cache.remember_traffic(traffic(), ["sleep", "1"], 2, OpenMpi())
            assert cache.recall_traffic(["sleep", "1"], 2, OpenMpi()) is not None
            assert os.lseek(0, 0, os.SEEK_CUR) == 0
            return cache.program_key(["sleep", "1"], 2, CLUSTER, OpenMpi())
        finally:
            os.dup2(before, 0)
            os.close(before)

    assert key("a") == key("a")  # Written anew, as batch systems do.
    assert len({key("a"), key("b"), key(None)}) == 3
    assert key(None) == key(None)


def test_network_without_shared_capacities_is_not_used_where_they_are_requested() -> None:
    remember(network())
    assert recall(contention=True) is None

    remember(network(), contention=True)
    assert recall(contention=True) is not None


def test_a_file_that_goes_while_it_is_looked_at_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, stays = tmp_path / "going", tmp_path / "stays"
    going.touch()
    stays.touch()
    real = os.stat

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        found = real(path, *arguments, **options)
        if path in (str(going), going):
            going.unlink()
        return found

    monkeypatch.setattr(os, "stat", stat)

    assert str(stays) in cache.input_files(["true", str(going), "a\0b", str(stays)])
