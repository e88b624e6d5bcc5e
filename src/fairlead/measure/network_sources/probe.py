# SPDX-License-Identifier: Apache-2.0
"""A network that is measured now, always or if no profile of an earlier run can be used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fairlead.errors import InputError
from fairlead.measure import profile_cache
from fairlead.measure.network_sources.source import MeasuredSource
from fairlead.measure.profile_cache import Profile
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network


class ProbeSource(MeasuredSource):
    """`probe:` measures all pairs now."""

    form = "probe:"

    def measure(self, cluster: Cluster, unreachable: Mapping[str, str] | None = None) -> Network:
        """The current network, which is kept for later runs."""
        how = self.measuring
        program = how.program()
        how.narrator.report(f"network: probing {cluster.num_hosts} hosts ({how.mode})")
        with how.narrator.progress("probing") as on_progress:
            network = how.probe(
                program.launcher,
                cluster,
                mode=how.mode,
                budget_s=how.budget_s,
                skip_unreachable=how.skip_unreachable,
                launcher_args=program.launcher_args,
                contention=how.contention,
                on_progress=on_progress,
                unreachable=unreachable,
                program=program,
            )
        path = self.profile_path(cluster)
        if path is not None and how.is_alone():
            try:
                profile_cache.remember(Profile(path, network))
            except InputError as error:  # A network that cannot be kept is still used for this run.
                how.narrator.report_loss(f"network: not cached for later runs: {error}")
        return network

    def profile_path(self, cluster: Cluster) -> Path | None:
        """In the user's cache, by hosts, MPI and what is measured."""
        how = self.measuring
        if not how.keeps_profiles:
            return None
        program = how.program()
        return profile_cache.profile_path(
            cluster, program.launcher, how.mode, how.contention, program.launcher_args
        )


class KeptSource(ProbeSource):
    """A profile of the same hosts from an earlier run, or the probe if there is none."""

    form = ""
    may_be_kept = True

    @classmethod
    def recognises(cls, text: str | None) -> bool:
        """The default, if the user names no source."""
        return text is None

    def look_up(self, cluster: Cluster | None) -> Network | None:
        """The kept network after a check; None if there is none, or if it has changed."""
        assert cluster is not None
        how, path = self.measuring, self.profile_path(cluster)
        if path is None:
            return None
        kept = profile_cache.recall(
            path, cluster, how.max_age_s, skip_unreachable=how.skip_unreachable
        )
        if kept is None or not how.is_alone():
            return None if kept is None else kept.network
        return how.check(kept, cluster, how.narrator, how.program())
