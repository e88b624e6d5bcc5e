# SPDX-License-Identifier: Apache-2.0
"""Our variables and the user's among a launcher's arguments: no library of either is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairlead.act.launch import LaunchSpec
from fairlead.act.launch._exports import hydra_exports, openmpi_exports
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.act.launch.parameter_files import parameter_files

OURS = {"LD_PRELOAD": "/ours.so", "FAIRLEAD_TRACE": "/t"}


@pytest.fixture(autouse=True)
def allowed_to_run_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def test_without_variables_of_ours_nothing_is_changed() -> None:
    arguments = ["-x", "LD_PRELOAD=/tool.so", "--mca", "mca_base_env_list", "A=1"]

    assert openmpi_exports({}, arguments) == arguments
    assert hydra_exports({}, ["-genv", "LD_PRELOAD", "/tool.so"]) == [
        *("-genv", "LD_PRELOAD", "/tool.so")
    ]


def test_open_mpi_gets_one_value_with_both_libraries() -> None:
    assert openmpi_exports(OURS, ["-x", "LD_PRELOAD=/tool.so", "-x", "A=1"]) == [
        *("-x", "LD_PRELOAD=/ours.so:/tool.so", "-x", "FAIRLEAD_TRACE=/t", "-x", "A=1")
    ]


@pytest.mark.parametrize("option", ["--x=LD_PRELOAD=/tool.so", "-xLD_PRELOAD=/tool.so"])
def test_open_mpi_5_takes_an_export_in_one_word(option: str) -> None:
    assert openmpi_exports({"LD_PRELOAD": "/ours.so"}, [option, "-x", "A=1"]) == [
        *("-x", "LD_PRELOAD=/ours.so:/tool.so", "-x", "A=1")
    ]


def test_a_variable_exported_by_its_name_has_the_value_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/tool.so")

    assert openmpi_exports({"LD_PRELOAD": "/ours.so"}, ["-x", "LD_PRELOAD"]) == [
        *("-x", "LD_PRELOAD=/ours.so:/tool.so")
    ]


def test_a_library_that_is_loaded_already_is_named_once() -> None:
    env = {"LD_PRELOAD": "/ours.so:/tool.so"}

    assert openmpi_exports(env, ["-x", "LD_PRELOAD=/tool.so"]) == [
        *("-x", "LD_PRELOAD=/ours.so:/tool.so")
    ]


def test_ours_join_the_list_with_which_open_mpi_4_refuses_single_exports() -> None:
    arguments = ["--mca", "mca_base_env_list", "A=1;LD_PRELOAD=/tool.so", "--bind-to", "none"]

    assert openmpi_exports(OURS, arguments) == [
        *("--mca", "mca_base_env_list"),
        "A=1;LD_PRELOAD=/ours.so:/tool.so;FAIRLEAD_TRACE=/t",
        *("--bind-to", "none"),
    ]


def test_ours_join_the_list_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "A=1")

    assert openmpi_exports({"FAIRLEAD_TRACE": "/t"}, []) == [
        *("--mca", "mca_base_env_list", "A=1;FAIRLEAD_TRACE=/t")
    ]


def test_hydra_gets_one_value_with_both_libraries() -> None:
    arguments = ["-genv", "LD_PRELOAD", "/tool.so", "-genv", "A", "1"]

    assert hydra_exports({"LD_PRELOAD": "/ours.so"}, arguments) == [
        *("-genv", "LD_PRELOAD", "/ours.so:/tool.so", "-genv", "A", "1")
    ]


def test_ours_join_the_list_of_the_users_parameter_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".openmpi").mkdir()
    (tmp_path / ".openmpi" / "mca-params.conf").write_text(
        "# site\nbtl_tcp_if_include = ib0\nmca_base_env_list = A=1;LD_PRELOAD=/tool.so\n"
    )

    assert openmpi_exports(OURS, []) == [
        *("--mca", "mca_base_env_list"),
        "A=1;LD_PRELOAD=/ours.so:/tool.so;FAIRLEAD_TRACE=/t",
    ]


@pytest.mark.parametrize("option", ["--tune {}", "-tune={}", "--tune /none.conf,{}"])
def test_what_a_file_of_arguments_preloads_is_loaded_too(option: str, tmp_path: Path) -> None:
    file = tmp_path / "site.conf"
    file.write_text("# tools\n-x LD_PRELOAD=/tool.so -x A=1\n-mca btl tcp,self\n")
    arguments = option.format(file).split()

    assert openmpi_exports({"LD_PRELOAD": "/ours.so"}, arguments) == [
        *("-x", "LD_PRELOAD=/ours.so:/tool.so", *arguments)
    ]


def test_ours_join_the_list_of_a_file_of_arguments(tmp_path: Path) -> None:
    file = tmp_path / "site.conf"
    file.write_text('-mca mca_base_env_list "A=1"\n')

    assert openmpi_exports({"FAIRLEAD_TRACE": "/t"}, ["--tune", str(file)]) == [
        *("--mca", "mca_base_env_list", "A=1;FAIRLEAD_TRACE=/t", "--tune", str(file))
    ]


def test_a_list_has_the_delimiter_that_the_user_chose(tmp_path: Path) -> None:
    arguments = ("--mca", "mca_base_env_list_delimiter", ",")
    listed = ("--mca", "mca_base_env_list", "A=1,LD_PRELOAD=/tool.so")
    spec = LaunchSpec(("p",), 1, env=OURS, launcher_args=(*arguments, *listed))

    command = OpenMpi4(Path("/usr/bin/mpirun"), (4, 1, 4)).prepare_command(spec, tmp_path)

    assert "A=1,LD_PRELOAD=/ours.so:/tool.so,FAIRLEAD_TRACE=/t" in command


@pytest.mark.parametrize("option", ["-genv", "-env", "--genv"])
def test_hydra_takes_name_and_value_in_one_word(option: str) -> None:
    assert hydra_exports({"LD_PRELOAD": "/ours.so"}, [option, "LD_PRELOAD=/tool.so", "-l"]) == [
        *("-genv", "LD_PRELOAD", "/ours.so:/tool.so", "-l")
    ]


def test_what_can_be_read_once_is_left_to_the_launcher(tmp_path: Path) -> None:
    once = tmp_path / "site.conf"
    os.mkfifo(once)
    # Without a writer, a reader of the FIFO would block.
    arguments = ["--tune", str(once)]

    assert openmpi_exports({"A": "1"}, arguments) == ["-x", "A=1", *arguments]
    assert str(once) not in dict(parameter_files(Path("/usr/bin/mpirun"), arguments))
