# SPDX-License-Identifier: Apache-2.0
"""`run` and `compare` refuse a metric or an objective where no placement would depend on it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from fairlead.cli import app

# CI runs as root in a container, which Open MPI refuses unless variables allow it.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
INPUTS = ("-n", "2", "-H", "a,b", "--network", "gone.net.npz")
BY_MESSAGES = (*INPUTS, "--metric", "messages")
BY_SUM = (*INPUTS, "--objective", "sum")


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "--method", "cyclic", "--objective", "sum"),
        ("compare", "--methods", "launcher,cyclic,random,optimize"),
        ("compare", "--methods", "blocked", "--objective", "sum"),
    ],
)
def test_a_metric_that_would_have_no_effect_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*arguments, *BY_MESSAGES, "--", "true"])

    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert "Invalid value for --metric: has no effect here: leave it out, or choose" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "--methods", "launcher,blocked,cyclic,random"),
        ("compare", "--methods", "geometric"),
    ],
)
def test_an_objective_that_would_have_no_effect_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*arguments, *BY_SUM, "--", "true"])

    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert "Invalid value for --objective: has no effect here: leave it out, or choose" in said


@pytest.mark.mpi
@pytest.mark.parametrize(
    "arguments",
    [
        # The decision goes by it, whatever the method.
        ("run", "--method", "cyclic"),
        ("compare", "--methods", "launcher,scotch-groups"),
        ("compare", "--methods", "optimize"),
    ],
)
def test_an_objective_is_accepted_where_something_goes_by_it(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*arguments, *BY_SUM, "--", "true"], env=AS_ROOT)

    assert result.exit_code == 1
    assert "gone.net.npz" in f"{result.output}{result.exception}"


@pytest.mark.mpi
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--method", "scotch-hosts"),
        ("run", "--objective", "sum"),
        ("compare",),
        ("compare", "--methods", "cyclic,optimize", "--objective", "sum"),
    ],
)
def test_a_metric_is_accepted_where_one_of_the_methods_goes_by_it(
    arguments: tuple[str, ...],
) -> None:
    result = CliRunner().invoke(app, [*arguments, *BY_MESSAGES, "--", "true"], env=AS_ROOT)

    assert result.exit_code == 1
    assert "gone.net.npz" in f"{result.output}{result.exception}"
