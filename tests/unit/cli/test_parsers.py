# SPDX-License-Identifier: Apache-2.0
"""Numbers in options: what is in their range is taken, and all else named with what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import typer

from fairlead.cli import parsers
from fairlead.errors import InputError


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parsers.above_zero, "0.5", 0.5),
        (parsers.part_of_all, "1", 1.0),
        (parsers.probability, "0", 0.0),
        (parsers.drift_ratio, "0.01", 0.01),
        (parsers.drift_ratio, "never", None),
        (parsers.relay_zones, "1,1", (1.0, 1.0)),
        (parsers.relay_zones, "1.5,3", (1.5, 3.0)),
    ],
)
def test_a_number_in_its_range_is_taken(
    parse: Callable[[str], object], text: str, value: object
) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "texts", "allowed"),
    [
        (parsers.above_zero, ["0", "-1", "inf", "nan", "one"], "a number > 0"),
        (parsers.part_of_all, ["1.1"], "a part, at most 1"),
        (parsers.probability, ["-0.1", "1.1", "nan", "often"], "a number in 0..1"),
        (parsers.drift_ratio, ["0", "inf", "nan", "always"], "at least 0.01, or never"),
        (parsers.relay_zones, ["", "2", "2,1", "0.5,1", "1,inf", "1,2,3", "a,b"], "MEDIUM,HIGH"),
    ],
)
def test_another_is_named_with_what_is_allowed(
    parse: Callable[[str], object], texts: list[str], allowed: str
) -> None:
    for text in texts:
        with pytest.raises((InputError, typer.BadParameter)) as refused:
            parse(text)
        assert allowed in str(refused.value)
        assert repr(text) in str(refused.value)


def test_an_open_quotation_is_wrong_usage() -> None:
    assert parsers.split_arguments("--bind-to 'a core'") == ("--bind-to", "a core")
    with pytest.raises(typer.BadParameter, match="No closing quotation"):
        parsers.split_arguments("--bind-to 'core")
