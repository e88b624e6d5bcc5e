# SPDX-License-Identifier: Apache-2.0
"""The tables of a scenario, and the quantities in them, which are written with units."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from fairlead.errors import InputError
from fairlead.units import parse_duration, parse_rate

__all__ = [
    "Change",
    "HostName",
    "Latency",
    "PairDelay",
    "PairDelays",
    "PairRate",
    "PairRates",
    "Racks",
    "Rate",
    "Table",
    "Torus",
]

MAX_SIZE = 32
"""Routers in a dimension of a torus."""

MAX_DELAY_S = 1.0
"""Longest delay of a field; more than that of a satellite link."""


def _rate(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"expected a rate as text such as '200Mbit/s', got {value!r}")  # noqa: TRY004
    try:
        rate_Bps = parse_rate(value)
    except InputError as error:
        raise ValueError(str(error)) from error
    if rate_Bps == 0:
        raise ValueError(f"a rate must be > 0, got {value!r}")
    return rate_Bps


def _with_unit(unit: str) -> PlainSerializer:
    # Where a field is one value or a list, pydantic hands over the list as well.
    def text(value: float | list[float]) -> str | list[str]:
        return (
            [f"{each!r}{unit}" for each in value] if isinstance(value, list) else f"{value!r}{unit}"
        )

    return PlainSerializer(text)


Rate = Annotated[float, BeforeValidator(_rate), _with_unit("B/s")]
"""Bytes per second; written with its unit, so that it can be read again."""


def _delay(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"expected a time as text such as '250us', got {value!r}")  # noqa: TRY004
    try:
        delay_s = parse_duration(value)
    except InputError as error:
        raise ValueError(str(error)) from error
    if delay_s > MAX_DELAY_S:
        raise ValueError(f"a delay must be at most {MAX_DELAY_S:g}s, got {value!r}")
    return delay_s


Delay = Annotated[float, BeforeValidator(_delay), _with_unit("s")]
"""Seconds, one way; written with its unit, so that it can be read again."""
HostName = Annotated[str, Field(pattern=r"^h[0-9]+$")]


class Table(BaseModel):
    """Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Racks(Table):
    """Racks, and the uplink that the hosts of a rack share."""

    count: int = Field(ge=2, le=64)
    uplink: Rate | list[Rate]
    """One rate for all racks, or one per rack; the same in both directions."""

    @model_validator(mode="after")
    def _one_uplink_per_rack(self) -> Racks:
        if isinstance(self.uplink, list) and len(self.uplink) != self.count:
            raise ValueError(f"uplink: {len(self.uplink)} rates for {self.count} racks")
        return self

    @property
    def uplink_Bps(self) -> list[float]:
        """Rate of each rack's uplink, length `count`."""
        return self.uplink if isinstance(self.uplink, list) else [self.uplink] * self.count


class Torus(Table):
    """A torus of routers with as many hosts on each; messages go along X, then Y, then Z."""

    sizes: list[int] = Field(min_length=1, max_length=3)
    """Routers in each dimension."""
    links: list[Rate]
    """Rate of the links of each dimension; the same in both directions."""

    @model_validator(mode="after")
    def _one_rate_per_dimension(self) -> Torus:
        if any(not 1 <= size <= MAX_SIZE for size in self.sizes):
            raise ValueError(f"sizes: expected 1 to {MAX_SIZE} routers, got {self.sizes}")
        if len(self.links) != len(self.sizes):
            raise ValueError(f"links: {len(self.links)} rates for {len(self.sizes)} dimensions")
        return self

    @property
    def num_routers(self) -> int:
        """Routers in all."""
        return math.prod(self.sizes)


class Draw(Table):
    """How values of directed pairs are drawn from a lognormal distribution."""

    sigma: float = Field(default=0.5, ge=0, le=3)
    """Standard deviation of the value's natural logarithm."""
    seed: int = Field(default=0, ge=0)
    asymmetry: float = Field(default=1.0, ge=0, le=1)
    """0: both directions of a pair are equal; 1: they are drawn independently."""


class PairRate(Table):
    """The rate of one directed pair."""

    src: HostName
    dst: HostName
    rate: Rate


class PairRates(Draw):
    """Directed rates of pairs: drawn from a lognormal distribution, then given ones."""

    median: Rate | None = None
    given: list[PairRate] = []


class PairDelay(Table):
    """The delay of one directed pair."""

    src: HostName
    dst: HostName
    delay: Delay


class PairDelays(Draw):
    """Directed delays of pairs: drawn from a lognormal distribution, then given ones."""

    median: Delay | None = None
    given: list[PairDelay] = []


class Latency(Table):
    """One-way delay in addition to the machine's own; the delays of the links add up."""

    nic: Delay | list[Delay] = 0.0
    """One delay for all hosts' interfaces, or one per host; sender's and receiver's add up."""
    uplink: Delay | list[Delay] = 0.0
    """One delay for all racks' uplinks, or one per rack; between racks, both racks' add up."""
    pairs: PairDelays | None = None
    """Additional delay of directed pairs."""
    by: Literal["netem", "line"] | None = None
    """How packets are delayed; by default netem if the kernel has it, else the delay line."""


class Change(Table):
    """A change while the lab runs: one pair's rate times `ratio`, or all pairs drawn anew."""

    at_s: float = Field(ge=0)
    src: HostName | None = None
    dst: HostName | None = None
    ratio: float | None = Field(default=None, ge=0)
    seed: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _pair_or_seed(self) -> Change:
        pair = [value is not None for value in (self.src, self.dst, self.ratio)]
        if all(pair) == (self.seed is not None) or any(pair) != all(pair):
            raise ValueError("needs either src, dst and ratio, or a seed to draw all pairs anew")
        return self
