# SPDX-License-Identifier: Apache-2.0
"""The CPUs of placed ranks are those that the launcher gives to as many ranks of its own start."""

from __future__ import annotations

import contextlib

from fairlead.act.launch import BindingLostError, HostedRank, with_binding
from fairlead.errors import Error, InputError
from fairlead.files.scratch import scratch_folder
from fairlead.flows.inputs.session import Session
from fairlead.measure.observed_launcher import (
    ObservedBinding,
    binding_path,
    recall_binding,
    remember_binding,
)
from fairlead.model.placement import Placement

__all__ = ["binding_s", "keep_binding"]

BINDING_S = 1.0
"""Part of a decision's budget for starting the launcher once more with the placement."""


def binding_s(session: Session) -> float:
    """Time that a decision leaves for `keep_binding`; 0 where nothing is compared."""
    return BINDING_S if session.launchers_cpus else 0.0


def keep_binding(session: Session, placement: Placement) -> ObservedBinding:
    """The CPUs of the ranks, by what the launcher is seen to do without and with the placement."""
    request = session.request
    if not session.launchers_cpus:
        return ObservedBinding()
    hosts = session.launchers.host_names()
    own = list(map(HostedRank, hosts, session.launchers_cpus))
    spec = request.launch_spec(session.cluster, placement)
    path = binding_path(session.launcher, spec)
    kept = recall_binding(path, request.network.max_age_s)
    if kept is None:
        try:
            with scratch_folder("fairlead-binding-") as folder:
                kept = ObservedBinding(cpus=with_binding(session.launcher, spec, own, folder).cpus)
        except BindingLostError as error:
            kept = ObservedBinding(lost=str(error))
        except Error as error:
            session.narrator.report(f"binding of ranks: not compared with the launcher's: {error}")
            return ObservedBinding()
        with contextlib.suppress(InputError):  # Else it is observed again, in about two seconds.
            remember_binding(path, kept)
    return kept
