# SPDX-License-Identifier: Apache-2.0
"""What every source of networks answers, and by what means one measures where it has to."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from fairlead.errors import InputError
from fairlead.measure.probe import probe
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.profile_cache import Profile
from fairlead.model.cluster import Cluster
from fairlead.model.host_tree import HostTree
from fairlead.model.network import Network
from fairlead.narrator import Narrator

__all__ = ["Measuring", "NetworkSource", "require_network"]


def _as_it_was(profile: Profile, cluster: Cluster, narrator: Narrator, program: object) -> Network:
    del cluster, narrator, program
    return profile.network


@dataclasses.dataclass(frozen=True)
class Measuring:
    """By what means a source measures.

    Attributes:
        program: Gives the measuring program; called only where a source may measure, as it
            looks for the launcher.
        narrator: Tells the user of it.
        mode: How thoroughly, "quick" or "full".
        budget_s: Most time of measuring; None without bound.
        contention: Also find what hosts and pairs share.
        skip_unreachable: Measure the rest when a host does not answer.
        keeps_profiles: What is measured is kept for later runs.
        max_age_s: Age up to which a kept profile is used again.
        check: The kept network as it is now, or None where it has to be measured as a whole.
        probe: Measures; as `fairlead.measure.probe.probe`.
    """

    program: Callable[[], ProbeProgram]
    narrator: Narrator = dataclasses.field(default_factory=Narrator)
    mode: Literal["quick", "full"] = "quick"
    budget_s: float | None = None
    contention: bool = False
    skip_unreachable: bool = False
    keeps_profiles: bool = True
    max_age_s: float = 3600.0
    check: Callable[[Profile, Cluster, Narrator, ProbeProgram], Network | None] = _as_it_was
    probe: Callable[..., Network] = probe


class NetworkSource(abc.ABC):
    """One source of a network, as the user named it.

    Attributes:
        form: How it is named, for help and errors.
        is_given: The network is taken as it is, and nothing further is measured.
        may_be_kept: A profile of an earlier run may serve.
        name: What the user wrote.
    """

    form: ClassVar[str]
    is_given: ClassVar[bool] = True
    may_be_kept: ClassVar[bool] = False

    def __init__(self, text: str | None, measuring: Measuring) -> None:
        """Nothing is read or measured yet.

        Args:
            text: What the user wrote; None for the source that is taken by default.
            measuring: By what means it measures.
        """
        self.name = "network" if text is None else text
        self.measuring = measuring

    @classmethod
    @abc.abstractmethod
    def recognises(cls, text: str | None) -> bool:
        """Whether what the user wrote names a source of this kind."""

    @abc.abstractmethod
    def at_hand(self, cluster: Cluster | None) -> Network | HostTree | None:
        """The network, or a tree, without measuring all of it; None where that has to be done.

        Args:
            cluster: The hosts; the network may hold more. None, where it is given, for all that
                it holds.

        Raises:
            Error: It cannot be had; the message names the source.
        """

    def measured(self, cluster: Cluster, unreachable: Mapping[str, str] | None = None) -> Network:
        """The network as it is now.

        Args:
            cluster: The hosts.
            unreachable: Those that do not answer, with the reason of each; None asks all.

        Raises:
            Error: It cannot be had.
        """
        del unreachable
        known = self.at_hand(cluster)
        assert known is not None, f"{self.name}: a source that measures has to say how"
        return require_network(known, self.name)

    def profile_path(self, cluster: Cluster) -> Path | None:
        """Where the network of these hosts is kept for later runs; None where it is not."""
        del cluster
        return None


def require_network(known: Network | HostTree, name: str) -> Network:
    """Check that rates are known, not only costs.

    Raises:
        InputError: It is a tree; the message names its source.
    """
    if isinstance(known, HostTree):
        raise InputError(
            f"{name}: a host tree has costs but no rates, which are needed here; give a measured "
            "network, or place on the tree by fairlead map"
        )
    return known
