# SPDX-License-Identifier: Apache-2.0
"""Which options the user gave: one that would have no effect is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import typer

from fairlead.cli.options import Objective
from fairlead.decide.placement.catalogue import METHODS

__all__ = [
    "is_given",
    "refuse",
    "require_metric_used",
    "require_objective_used",
    "require_optimize",
]


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the user gave this parameter."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Check that the user gave none of these parameters.

    Raises:
        BadParameter: One of them is on the command line; the message names it and the reason.
    """
    for parameter in context.command.params:
        if parameter.name in names and is_given(context, parameter.name or ""):
            raise typer.BadParameter(reason, context, param_hint=parameter.opts[0])


def require_optimize(context: typer.Context, methods: Collection[str]) -> None:
    """Check that the user gave `--time-limit` only with the method that uses it.

    Raises:
        BadParameter: "optimize" is not among the methods.
    """
    if "optimize" not in methods:
        refuse(context, {"time_limit"}, "needs the method optimize")


def require_metric_used(
    context: typer.Context, methods: Collection[str], objective: Objective
) -> None:
    """Check that the user gave `--metric` only where a method goes by it.

    Raises:
        BadParameter: None of these methods does with this objective.
    """
    if objective is Objective.sum and "optimize" in methods:
        return
    if not any(METHODS[name].uses_metric for name in methods):
        reason = (
            "has no effect here: leave it out, or choose a method scotch..., geometric, or "
            "optimize with --objective sum"
        )
        refuse(context, {"metric"}, reason)


def require_objective_used(context: typer.Context, methods: Collection[str]) -> None:
    """Check that the user gave `--objective` only where a method goes by it.

    Raises:
        BadParameter: None of these methods does.
    """
    if not any(METHODS[name].uses_objective for name in methods):
        reason = (
            "has no effect here: leave it out, or choose optimize, scotch-best, scotch-groups or "
            "scotch-hosts"
        )
        refuse(context, {"objective"}, reason)
