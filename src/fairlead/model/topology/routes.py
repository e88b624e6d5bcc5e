# SPDX-License-Identifier: Apache-2.0
"""What every kind of route answers: its links, and a value of them reduced along it."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

__all__ = ["HostIndex", "LinkIndex", "Reducer", "Reduction", "Routes", "Values"]

HostIndex = npt.NDArray[np.int64]
LinkIndex = npt.NDArray[np.int32]
Values = npt.NDArray[np.float64]

NO_LINK = -1
"""Stands where a route needs a link that is not there."""


class Reduction(Enum):
    """How the values of the links on a route become one."""

    min = "min"
    max = "max"
    sum = "sum"

    @property
    def neutral(self) -> float:
        """The value that changes nothing."""
        return {"min": float("inf"), "max": float("-inf"), "sum": 0.0}[self.value]

    @property
    def combine(self) -> Callable[[Any, Any], Any]:
        """Two arrays into one."""
        functions: dict[str, Callable[[Any, Any], Any]] = {
            "min": np.minimum,
            "max": np.maximum,
            "sum": np.add,
        }
        return functions[self.value]


Reducer = Callable[[HostIndex, HostIndex], Values]
"""Positions of sending and receiving hosts, of one shape, to a value for each pair."""


class Routes(abc.ABC):
    """Which links a message takes. Hosts and links are numbered as in the topology."""

    kind: ClassVar[str]
    """Its name in files."""

    @abc.abstractmethod
    def route(self, src: int, dst: int) -> LinkIndex:
        """Links from host to host in their order; NO_LINK where one is missing.

        Raises:
            TopologyError: There is no route.
        """

    @abc.abstractmethod
    def reducer(self, value_of_link: Values, reduction: Reduction) -> Reducer:
        """Prepares a reduction along routes; `nan` stands for what makes a route unknown.

        Args:
            value_of_link: Shape (L + 1,); the last is for NO_LINK.
            reduction: How values along a route become one.

        Returns:
            What reduces; for a route without links the neutral value, `nan` for a pair without
            a route.
        """

    @abc.abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What a file keeps of it."""

    @classmethod
    @abc.abstractmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], num_links: int) -> Routes:
        """From what a file kept.

        Raises:
            InputError: An array is out of its range.
        """


def known_reducer(routes: Routes, value_of_link: Values, reduction: Reduction) -> Reducer:
    """A reducer over the links whose value is known.

    Args:
        routes: The routes.
        value_of_link: Shape (L,); `nan` where unknown.
        reduction: How values along a route become one.

    Returns:
        What reduces: neutral where a route has no link or none that is known.
    """
    filled = np.append(value_of_link, np.nan)
    return routes.reducer(np.where(np.isnan(filled), reduction.neutral, filled), reduction)
