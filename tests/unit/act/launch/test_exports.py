# SPDX-License-Identifier: Apache-2.0
"""Our variables and the user's among a launcher's arguments: no library of either is lost."""

from __future__ import annotations

import pytest

from fairlead.act.launch._exports import hydra_exports, openmpi_exports

OURS = {"LD_PRELOAD": "/ours.so", "FAIRLEAD_TRACE": "/t"}


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
