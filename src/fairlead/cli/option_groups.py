# SPDX-License-Identifier: Apache-2.0
"""Groups of options: a command declares one as a parameter, and receives a typed object.

    @dataclasses.dataclass(frozen=True)
    class LauncherOptions(OptionGroup):
        mpirun: Annotated[str | None, typer.Option(...)] = None

    def trace(program: Program, launcher: LauncherOptions) -> None: ...

Typer itself knows only single options, so it is shown a function with those of each group.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

__all__ = ["OptionGroup", "with_single_options"]


@dataclasses.dataclass(frozen=True)
class OptionGroup:
    """Base of all groups; each field of a group is declared as a parameter of a command is."""


def with_single_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same command with the options of each group in the place of the group.

    Raises:
        TypeError: Two groups have an option of the same name.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[OptionGroup]] = {}
    # Not get_type_hints: in Python 3.10 it puts the option of a parameter that is None by default
    # into an Optional, in which Typer does not find it.
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        hint = parameter.annotation
        if isinstance(hint, type) and issubclass(hint, OptionGroup):
            groups[name] = hint
            parameters += _parameters_of(hint)
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hint, kind=kind))
    names = [parameter.name for parameter in parameters]
    if twice := {name for name in names if names.count(name) > 1}:
        raise TypeError(f"{command.__name__}: declared twice: {', '.join(sorted(twice))}")

    @functools.wraps(command)
    def with_groups(**values: Any) -> Any:
        made = {
            name: group(**{each.name: values.pop(each.name) for each in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        return command(**values, **made)

    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_groups


def _parameters_of(group: type[OptionGroup]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty
            if field.default is dataclasses.MISSING
            else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
