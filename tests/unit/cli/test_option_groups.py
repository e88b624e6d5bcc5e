# SPDX-License-Identifier: Apache-2.0
"""A group of options is on the command line what its options are, and one object in the command."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from fairlead.cli.help import App
from fairlead.cli.option_groups import OptionGroup, with_single_options


@dataclasses.dataclass(frozen=True)
class PlaceOptions(OptionGroup):
    """Two options, of which one must be given."""

    town: Annotated[str, typer.Option(help="Where.")]
    floor: Annotated[int, typer.Option("--floor", "-f", min=0)] = 3


def test_a_command_receives_the_group_and_its_own_options() -> None:
    received: list[tuple[PlaceOptions, bool]] = []
    app = App()

    @app.command()
    def go(place: PlaceOptions, slowly: Annotated[bool, typer.Option("--slowly")] = False) -> None:
        received.append((place, slowly))

    done = CliRunner().invoke(app, ["--town", "Kiel", "-f", "1", "--slowly"])
    assert done.exit_code == 0, done.output
    assert received == [(PlaceOptions("Kiel", 1), True)]


def test_defaults_and_limits_are_those_of_the_group() -> None:
    app = App()

    @app.command()
    def go(place: PlaceOptions) -> None:
        print(place.floor)

    assert CliRunner().invoke(app, ["--town", "Kiel"]).output == "3\n"
    assert CliRunner().invoke(app, ["--town", "Kiel", "--floor", "-1"]).exit_code == 2
    assert CliRunner().invoke(app, []).exit_code == 2


def test_an_option_of_two_groups_is_a_mistake_of_the_program() -> None:
    def go(one: PlaceOptions, other: PlaceOptions) -> None:
        del one, other

    with pytest.raises(TypeError, match="go: declared twice: floor, town"):
        with_single_options(go)


def test_an_option_that_is_none_by_default_keeps_its_name() -> None:
    # Python 3.10's get_type_hints hides it in an Optional.
    def command(file: Annotated[str | None, typer.Option("--map")] = None) -> None:
        print(file)

    app = typer.Typer()
    app.command()(with_single_options(command))

    assert CliRunner().invoke(app, ["--map", "a"]).stdout == "a\n"
