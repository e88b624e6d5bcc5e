# SPDX-License-Identifier: Apache-2.0
"""Advice on hosts in the terminal, and as facts for JSON."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairlead.decide.expected_gain import Gain
from fairlead.decide.hosts import (
    ENOUGH_RATIO,
    FEWEST_HOSTS,
    Advice,
    BadHost,
    HostAdvice,
    HostSet,
    LeavingOut,
    Symptom,
)
from fairlead.decide.hosts.stragglers import straggler_lines
from fairlead.report.advice_notes import notes
from fairlead.report.host_rates_view import straggler_facts
from fairlead.report.plain import plain
from fairlead.report.terminal_table import table
from fairlead.units import format_duration, format_rate, three_digits

MAX_NAMED = 6
"""Most hosts or pairs that a line names."""

_DONE = {"out": "sends", "in": "receives"}


def facts(advice: Advice) -> dict[str, Any]:
    """Everything that `view` shows, as plain values; None where unknown."""
    hosts = advice.hosts
    return {
        "kind": "advice",
        "hosts": list(advice.network.hosts),
        "bad_hosts": [_bad_host_facts(bad) for bad in advice.bad_hosts],
        "stragglers": straggler_facts(advice.network, advice.stragglers),
        "choice": None if hosts is None else _host_facts(hosts),
        "notes": notes(advice),
    }


def view(advice: Advice) -> RenderableType:
    """The advice for a terminal."""
    parts: list[RenderableType] = [*_bad_hosts(advice)]
    parts += [Text(line, style="bold") for line in straggler_lines(advice.network)]
    hosts = advice.hosts
    if hosts is not None:
        if hosts.leaving_out is not None:
            parts.append(Text(_line_of_hosts_left_out(hosts.leaving_out)))
        parts += [Text(), _table(hosts), Text(), *(Text(line) for line in _findings(hosts))]
    remarks = [Text(note, style="dim") for note in notes(advice)]
    parts += [Text(), *remarks] if remarks else []
    return Group(*parts)


def _bad_hosts(advice: Advice) -> list[Text]:
    if advice.network.num_hosts < FEWEST_HOSTS:
        return [Text(f"With fewer than {FEWEST_HOSTS} hosts a bad host and bad pairs look alike.")]
    if not advice.bad_hosts:
        return [Text("No bad host: none is clearly worse than the others.")]
    lines = []
    for bad in advice.bad_hosts:
        lines.append(Text(f"{bad.host} is a bad host", style="bold"))
        lines += [Text(f"  {line}") for symptom in bad.symptoms for line in _symptom(symptom)]
        if bad.near:
            lines.append(
                Text(
                    f"  its pairs with {_names(bad.near)} are good: perhaps both are in a far rack"
                )
            )
    return lines


def _symptom(symptom: Symptom) -> list[str]:
    is_rate = symptom.quantity == "bandwidth_Bps"
    show = format_rate if is_rate else format_duration
    named = ", ".join(
        f"{pair.src} -> {pair.dst} {show(pair.value)}" for pair in symptom.pairs[:MAX_NAMED]
    )
    more = len(symptom.pairs) - MAX_NAMED
    return [
        f"it {_DONE[symptom.direction]} {symptom.ratio:.1f} times "
        f"{'slower' if is_rate else 'later'} than usual: {show(symptom.value)}, the typical pair "
        f"{show(symptom.typical)}; {len(symptom.pairs)} of {symptom.num_pairs} pairs show it",
        f"  {named}{f' and {more} more' if more > 0 else ''}",
    ]


def _line_of_hosts_left_out(found: LeavingOut) -> str:
    named = _names(found.hosts)
    if found.bottleneck_gain is None or found.comm_time_gain is None:
        return (
            f"Leaving out {named} is not possible: {found.missing_slots} ranks would have no slot."
        )
    if found.num_ranks == 0:
        return f"Leaving out {named} changes little: with all hosts no rank is placed there either."
    finding = (
        f"the network's busiest part is {_speed(found.bottleneck_gain)}, all bytes in turn "
        f"{_speed(found.comm_time_gain)}. With all hosts {found.num_ranks} ranks are there."
    )
    if found.helps:
        return f"Leaving out {named} should help: {finding}"
    if found.bottleneck_gain.is_beyond_noise:
        return f"Leaving out {named} improves one and worsens the other: {finding}"
    return f"Leaving out {named} may not help: {finding}"


def _speed(gain: Gain) -> str:
    """How many times as fast the set of hosts is, with its interval."""
    middle, low, high = map(_times, (gain.ratio, gain.low_ratio, gain.high_ratio))
    return f"{middle} times as fast ({low} to {high})"


def _times(saved_ratio: float) -> str:
    """The ratio as text; a saving of all has none, and digits of a thousandfold do not matter."""
    left_ratio = 1 - saved_ratio
    return "over 1000" if left_ratio < 1e-3 else f"{1 / left_ratio:.2f}"


def _table(advice: HostAdvice) -> Table:
    has_time = not math.isnan(advice.rest_s)
    has_price = not math.isnan(advice.all_hosts.price_per_run)
    names = ["hosts", "left out", "busiest\npart", "all bytes\nin turn"]
    names += ["run\ntime"] * has_time + ["price\nper run"] * has_price
    shown = table(names, texts=["left out"], title=f"Best {advice.method} placement by hosts used")
    for host_set in advice.best_of_size:
        cells = [
            str(len(host_set.hosts)),
            _names(advice.left_out(host_set)),
            format_duration(host_set.cost.bottleneck_s),
            format_duration(host_set.cost.comm_time_s),
        ]
        if has_time:
            cells.append(format_duration(host_set.time_s))
        if has_price:
            cells.append(three_digits(host_set.price_per_run))
        shown.add_row(*cells, style="bold" if host_set is advice.enough else "")
    return shown


def _findings(advice: HostAdvice) -> list[str]:
    num_hosts, num_enough = len(advice.all_hosts.hosts), len(advice.enough.hosts)
    if len(advice.best_of_size) == 1:
        lines = [f"All {num_hosts} hosts are needed: fewer do not have a slot for every rank."]
    else:
        lines = [
            f"{num_enough} of {num_hosts} hosts are enough: {_names(advice.enough.hosts)}. The "
            f"best found is at most {ENOUGH_RATIO:.0%} faster, or by no more than the noise."
        ]
    if advice.wanted is not None:
        lines.append(_line_of_wanted(advice, advice.wanted))
    return lines


def _line_of_wanted(advice: HostAdvice, wanted: HostSet) -> str:
    has_price = not math.isnan(wanted.price_per_run)
    limit = (
        ""
        if advice.wanted_time_s is None
        else f" within {format_duration(advice.wanted_time_s)} a run"
    )
    price = f", {three_digits(wanted.price_per_run)} per run" if has_price else ""
    return (
        f"{'Cheapest' if has_price else 'Fewest hosts'}{limit}: {', '.join(wanted.hosts)}: "
        f"predicted {format_duration(wanted.time_s)}{price}."
    )


def _names(hosts: tuple[str, ...]) -> str:
    more = len(hosts) - MAX_NAMED
    return (", ".join(hosts[:MAX_NAMED]) or "-") + (f" and {more} more" if more > 0 else "")


def _bad_host_facts(bad: BadHost) -> dict[str, Any]:
    symptoms = [
        dataclasses.asdict(symptom) | {"pairs": [pair._asdict() for pair in symptom.pairs]}
        for symptom in bad.symptoms
    ]
    return {"host": bad.host, "symptoms": symptoms, "near": list(bad.near)}


def _host_facts(advice: HostAdvice) -> dict[str, Any]:
    leaving = advice.leaving_out
    return {
        "method": advice.method,
        "run_time_s": plain(advice.run_time_s),
        "rest_s": plain(advice.rest_s),
        "traced_cost": advice.traced.as_dict(),
        "all_hosts": _set_facts(advice.all_hosts),
        "leaving_out": None
        if leaving is None
        else {
            "hosts": list(leaving.hosts),
            "helps": leaving.helps,
            "num_ranks": leaving.num_ranks,
            "missing_slots": leaving.missing_slots,
            "choice": _set_facts(leaving.host_set),
            "bottleneck_gain": _gain_facts(leaving.bottleneck_gain),
            "comm_time_gain": _gain_facts(leaving.comm_time_gain),
        },
        "best_of_size": [_set_facts(host_set) for host_set in advice.best_of_size],
        "enough": _set_facts(advice.enough),
        "wanted_time_s": advice.wanted_time_s,
        "wanted": _set_facts(advice.wanted),
    }


def _set_facts(host_set: HostSet | None) -> dict[str, Any] | None:
    if host_set is None:
        return None
    return {
        "hosts": list(host_set.hosts),
        "host_of_rank": host_set.placement.host_names(),
        "cost": host_set.cost.as_dict(),
        "predicted_time_s": plain(host_set.time_s),
        "price_per_run": plain(host_set.price_per_run),
    }


def _gain_facts(gain: Gain | None) -> dict[str, Any] | None:
    return None if gain is None else dataclasses.asdict(gain)
