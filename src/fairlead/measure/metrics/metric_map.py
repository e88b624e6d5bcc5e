# SPDX-License-Identifier: Apache-2.0
"""The TOML file in which a user says which series are which quantity of which port."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fairlead.errors import InputError
from fairlead.files.toml_files import read_toml
from fairlead.measure.metrics.series import Quantity
from fairlead.measure.topologies.switch_tree import host_port

__all__ = ["MappedSeries", "PlacedSeries", "read_metric_map"]

_METRIC = re.compile(r"[a-zA-Z_:][\w:]*(\{.*\})?|\{.*\}", re.S)


class PlacedSeries(NamedTuple):
    """Where a series belongs.

    Attributes:
        port: The port.
        host_names: What its host may be called; empty where the map names the port.
        device: Which part of the port counts.
    """

    port: str
    host_names: tuple[str, ...]
    device: str


class MappedSeries(BaseModel):
    """One entry: the series of a selector.

    Attributes:
        metric: A name, or a selector such as `octets{fabric="hsn"}`.
        quantity: What it counts.
        link: Whether of the link into the port, or out of it.
        host: Template of the host; or
        port: template of the port, as the topology calls it.
        device: Template of the part of the port, where several are added up.
        factor: To the quantity's unit: bytes, seconds, packets, bytes a second, shares.
        bits: Bits of a counter.
        take: What templates take of a label: the first group of a regular expression, which has to
            match the whole of it.
    """

    model_config = ConfigDict(extra="forbid")

    metric: str
    quantity: Quantity
    link: Literal["into", "out"]
    host: str | None = None
    port: str | None = None
    device: str = ""
    factor: float = Field(1.0, gt=0, allow_inf_nan=False)
    bits: int = Field(64, ge=8, le=64)
    take: dict[str, str] = {}

    @field_validator("metric")
    @classmethod
    def _is_selector(cls, text: str) -> str:
        if _METRIC.fullmatch(text.strip()) is None:
            raise ValueError("expected the name of a metric, with or without matchers in braces")
        return text.strip()

    @field_validator("take")
    @classmethod
    def _are_expressions(cls, take: dict[str, str]) -> dict[str, str]:
        for label, text in take.items():
            try:
                groups = re.compile(text).groups
            except re.error as error:
                raise ValueError(f"{label}: is no regular expression: {error}") from error
            if groups != 1:
                raise ValueError(f"{label}: expected one group in parentheses, got {groups}")
        return take

    @model_validator(mode="after")
    def _has_a_place(self) -> MappedSeries:
        if (self.host is None) == (self.port is None):
            raise ValueError("expected either host or port")
        for template in (self.host, self.port, self.device):
            _fields(template or "")
        return self

    def place(self, labels: Mapping[str, str]) -> PlacedSeries:
        """Where a series with these labels belongs.

        Raises:
            InputError: A label is missing, or `take` does not match it.
        """
        device = self._fill(self.device, labels)
        if self.port is not None:
            return PlacedSeries(self._fill(self.port, labels), (), device)
        host = self._fill(self.host or "", labels)
        return PlacedSeries(host_port(host), (host,), device)

    def _fill(self, template: str, labels: Mapping[str, str]) -> str:
        values = {name: self._value(name, labels) for name in _fields(template)}
        return template.format(**values)

    def _value(self, name: str, labels: Mapping[str, str]) -> str:
        if name not in labels:
            raise InputError(f"has no label {name!r}; there are {', '.join(sorted(labels))}")
        if name not in self.take:
            return labels[name]
        match = re.fullmatch(self.take[name], labels[name])
        if match is None:
            raise InputError(f"label {name}={labels[name]!r}: {self.take[name]!r} does not match")
        return match[1] or ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    series: list[MappedSeries] = Field(min_length=1)


def read_metric_map(path: Path) -> list[MappedSeries]:
    """The entries of a file.

    Raises:
        InputError: It cannot be read, or a field is wrong; the message names file and field.
    """
    return read_toml(path, _File).series


def _fields(template: str) -> list[str]:
    """Labels that a template names in braces.

    Raises:
        ValueError: It is no template; pydantic names the field.
    """
    try:
        found = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise ValueError(f"{template!r}: {error}") from error
    wrong = next((name for name in found if not name.isidentifier()), None)
    if wrong is not None:
        raise ValueError(f"{template!r}: expected names of labels in braces, got {wrong!r}")
    return found
