# SPDX-License-Identifier: Apache-2.0
"""What a collective operation does on a network, message by message."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pydantic

from fairlead import _core
from fairlead.files.json_files import parse_json
from fairlead.files.naming import name_source

__all__ = ["Schedule"]

KIND = "schedule"
VERSION = 1

Hosts = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Schedule:
    """One collective operation on hosts 0 .. H - 1, in one of the forms of the design page.

    What a form does not use is empty or 0 (docs/design/collective-forms.md).

    Attributes:
        operation: "bcast", "reduce", "gather", "scatter", "allgather", "allreduce",
            "reduce_scatter", "alltoall" or "barrier".
        form: "native", "levels", "forest", "ring", "linear", "doubling", "split_tree",
            "dissemination" or "two_level".
        method: Name in `fairlead.collectives.METHODS`.
        num_hosts: Number of hosts H.
        root: Host from which or to which all goes, or -1 where the operation has none.
        message_bytes: Whole vector (bcast, reduce, allreduce) or one block (the others).
        predicted_s: Time that the simulation of the network says.
        lower_bound_s: No algorithm can be faster on this network.
        order: Host at each position, length H.
        trees: Parent of each host, -1 at the tree's root; each of length H.
        tree_of_segment: Tree along which each segment travels.
        share_of_segment: Part of the message that each segment is; they add up to 1.
        levels: Groups of hosts, each with its leader first; top level first. Of "two_level" one
            level, the islands.
        window: Messages under way on one edge, or from one host to other islands.
        max_sends: Sends under way at one host, or receives of a reduce or gather; of "two_level"
            those inside its island, or receives of a reduce_scatter; 0: no limit.
        num_parts: Parts in which a block of a ring is cut, as long as 1 to 2 to 3.
    """

    operation: str
    form: str
    method: str
    num_hosts: int
    root: int = -1
    message_bytes: int = 0
    predicted_s: float = 0.0
    lower_bound_s: float = 0.0
    order: Hosts = ()
    trees: tuple[Hosts, ...] = ()
    tree_of_segment: Hosts = ()
    share_of_segment: tuple[float, ...] = ()
    levels: tuple[tuple[Hosts, ...], ...] = ()
    window: int = 0
    max_sends: int = 0
    num_parts: int = 0

    def __post_init__(self) -> None:
        for name in ("order", "tree_of_segment"):
            object.__setattr__(self, name, _hosts(getattr(self, name)))
        object.__setattr__(self, "share_of_segment", tuple(map(float, self.share_of_segment)))
        object.__setattr__(self, "trees", tuple(_hosts(tree) for tree in self.trees))
        levels = tuple(tuple(_hosts(group) for group in groups) for groups in self.levels)
        object.__setattr__(self, "levels", levels)
        to_core(self).check()

    @property
    def parent(self) -> npt.NDArray[np.int64] | None:
        """Parent of each host, -1 at the root, or None where the form is no tree.

        Shape (H,) of a single tree, (T, H) of several.
        """
        if not self.trees:
            return None
        trees = np.array(self.trees, dtype=np.int64)
        return trees[0] if len(trees) == 1 else trees

    def to_json(self) -> str:
        """The schedule as JSON; `from_json` reads it back."""
        return json.dumps({"kind": KIND, "version": VERSION, **dataclasses.asdict(self)})

    @classmethod
    def from_json(cls, text: str) -> Schedule:
        """Read a schedule from what `to_json` made.

        Raises:
            InputError: The text is damaged, of another kind or version, or no schedule; the message
                names the field.
        """
        record = parse_json(text, _Record, "schedule")
        with name_source("schedule"):
            return pydantic.TypeAdapter(cls).validate_python(record.model_extra)


class _Record(pydantic.BaseModel, extra="allow"):
    kind: str = pydantic.Field(pattern="^schedule$")
    version: int = pydantic.Field(ge=1, le=1)


def _hosts(values: Sequence[int]) -> Hosts:
    return tuple(map(int, values))


def from_core(schedule: _core.Schedule) -> Schedule:
    """The schedule that the core made."""
    names = [field.name for field in dataclasses.fields(Schedule)]
    return Schedule(**{name: getattr(schedule, name) for name in names})


def to_core(schedule: Schedule) -> _core.Schedule:
    """The schedule as the core reads it."""
    names = [field.name for field in dataclasses.fields(schedule)]
    return _core.Schedule(**{name: getattr(schedule, name) for name in names})
