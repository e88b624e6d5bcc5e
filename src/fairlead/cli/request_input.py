# SPDX-License-Identifier: Apache-2.0
"""What the user asked for, by the options that were given."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import typer

from fairlead.act.launch import parse_hostfile, read_hostfile
from fairlead.act.plan.relay import DEFAULT_ZONES, RELAY_RULES
from fairlead.cli.given_options import refuse
from fairlead.cli.parsers import split_arguments
from fairlead.decide.rule import DEFAULT_RULE, Rule
from fairlead.flows.request import Request
from fairlead.measure.network_sources import source_kind
from fairlead.model.cluster import Cluster

_OF_PROBE = frozenset({"mode", "budget", "contention", "max_age"})


def hosts_given(hostfile: Path | None, hosts: str | None) -> Cluster | None:
    """The hosts that the user named in a file, read once, or one by one; None if in neither way.

    Raises:
        BadParameter: They are named in both ways.
        InputError: The file cannot be read, or a name or a number of slots is not understood.
    """
    if hosts is None:
        return None if hostfile is None else read_hostfile(hostfile)
    if hostfile is not None:
        raise typer.BadParameter("does not go together with --hostfile", param_hint="--host")
    # A name in a launcher's list of hosts is one slot, unlike a bare name in a hostfile.
    listed = parse_hostfile(hosts.replace(",", "\n"), "--host")
    return dataclasses.replace(listed, bare_hosts=frozenset())


def request_of(context: typer.Context) -> Request:
    """The request that the parsed parameters of `fairlead run` or `compare` describe.

    Raises:
        BadParameter: An option is for measuring, but the network is not measured.
    """
    parameters = context.params
    kind = source_kind(parameters["network"])
    if kind.is_given:
        reason = f"does not go together with --network {kind.form}: nothing is measured"
        refuse(context, _OF_PROBE, reason)
    elif not kind.may_be_kept:
        refuse(context, {"max_age"}, f"does not go together with --network {kind.form}")
    return Request(
        program=tuple(parameters["program"]),
        num_ranks=parameters["num_ranks"],
        hostfile=hosts_given(parameters["hostfile"], parameters["host"]),
        mpirun=parameters["mpirun"],
        launcher_args=split_arguments(parameters["launcher_args"]),
        network=parameters["network"],
        traffic=parameters["traffic"],
        mode=parameters["mode"].value,
        budget_s=parameters["budget"],
        rule=Rule(risk=parameters.get("risk", DEFAULT_RULE.risk)),
        contention=parameters["contention"],
        max_age_s=parameters["max_age"],
        skip_unreachable=parameters["skip_unreachable"],
        metric=parameters["metric"].value,
        objective=parameters["objective"].value,
        time_limit_s=parameters.get("time_limit"),
        seed=parameters["seed"],
        directory=parameters["run_dir"],
        reorder=parameters.get("reorder", False),
        relay_bytes=parameters["relay_threshold"] if parameters.get("relay") else None,
        relay_rule=parameters.get("relay_rule", RELAY_RULES[0]),
        relay_zones=parameters.get("relay_zones", DEFAULT_ZONES),
        tune=parameters.get("tune", "never"),
        plan=parameters.get("plan"),
    )
