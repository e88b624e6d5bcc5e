# SPDX-License-Identifier: Apache-2.0
"""The interface of all network sources, and the means for measuring."""

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

__all__ = ["MeasuredSource", "Measuring", "NetworkSource", "require_network"]


def _as_it_was(profile: Profile, cluster: Cluster, narrator: Narrator, program: object) -> Network:
    del cluster, narrator, program
    return profile.network


@dataclasses.dataclass(frozen=True)
class Measuring:
    """What a source needs for measuring.

    Attributes:
        program: Returns the measuring program; called only if a source may measure, since it looks
            for the launcher.
        narrator: Reports it to the user.
        mode: How thoroughly, "quick" or "full".
        budget_s: Most time of measuring; None without bound.
        contention: Also find shared bottlenecks.
        skip_unreachable: Measure the rest when a host does not answer.
        keeps_profiles: Measured networks are kept for later runs.
        is_alone: Whether nothing is known to disturb a measurement; else it is not kept.
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
    is_alone: Callable[[], bool] = lambda: True
    max_age_s: float = 3600.0
    check: Callable[[Profile, Cluster, Narrator, ProbeProgram], Network | None] = _as_it_was
    probe: Callable[..., Network] = probe


class NetworkSource(abc.ABC):
    """One network source, as named by the user.

    Attributes:
        form: The form of its name, for help and errors.
        is_given: The network is used as it is, and nothing further is measured.
        may_be_kept: A profile of an earlier run may be used.
        basis: What a decision is made by, as it is printed.
        has_true_rates: Rates are those of the network; else only their ratios mean something.
        name: The user's text.
    """

    form: ClassVar[str]
    is_given: ClassVar[bool] = True
    may_be_kept: ClassVar[bool] = False
    basis: ClassVar[str] = "the measured rates"
    has_true_rates: ClassVar[bool] = True

    def __init__(self, text: str | None, measuring: Measuring) -> None:
        """Nothing is read or measured yet.

        Args:
            text: The user's text; None for the default source.
            measuring: What it needs for measuring.
        """
        self.name = "network" if text is None else text
        self.measuring = measuring

    @classmethod
    @abc.abstractmethod
    def recognises(cls, text: str | None) -> bool:
        """Whether the user's text names a source of this kind."""

    @abc.abstractmethod
    def look_up(self, cluster: Cluster | None) -> Network | HostTree | None:
        """The network, or a tree, without measuring all of it; None if it must be measured.

        Args:
            cluster: The hosts; the network may hold more. None, where it is given, for all that
                it holds.

        Raises:
            Error: It cannot be had; the message names the source.
        """

    def measure(self, cluster: Cluster, unreachable: Mapping[str, str] | None = None) -> Network:
        """The current network, measured now.

        Args:
            cluster: The hosts.
            unreachable: Those that do not answer, with the reason of each; None asks all.

        Raises:
            Error: It cannot be had.
        """
        del unreachable
        known = self.look_up(cluster)
        assert known is not None, f"{self.name}: a source that measures has to say how"
        return require_network(known, self.name)

    def profile_path(self, cluster: Cluster) -> Path | None:
        """File in which the network of these hosts is kept for later runs; None if it is not."""
        del cluster
        return None


class MeasuredSource(NetworkSource):
    """A source that measures now, named by the word that is its form."""

    is_given = False

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """The word itself."""
        return text == cls.form

    def look_up(self, cluster: Cluster | None) -> Network | None:
        """None: it is always measured."""
        del cluster
        return None


def require_network(known: Network | HostTree, name: str) -> Network:
    """Check that the network has rates, not only costs.

    Raises:
        InputError: It is a tree; the message names its source.
    """
    if isinstance(known, HostTree):
        raise InputError(
            f"{name}: a host tree has costs but no rates, which are needed here; give a measured "
            "network, or place on the tree by fairlead map"
        )
    return known
