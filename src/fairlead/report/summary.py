# SPDX-License-Identifier: Apache-2.0
"""The summary at the top of the page: the results of a run, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairlead.flows.compare.comparison import Comparison
from fairlead.measure.racks import racks as racks_of
from fairlead.model.network import Network
from fairlead.report import jobs_view
from fairlead.report.comparison_tables import speed_ratio, speed_words
from fairlead.report.comparison_view import findings
from fairlead.report.contention_view import contention_lines
from fairlead.report.decision_view import decision_sentence, program_of
from fairlead.report.estimates import estimate_lines
from fairlead.report.network_view import between_hosts
from fairlead.report.noise import contrast
from fairlead.report.quantities import Quantity, quantities
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import SECONDS, human
from fairlead.report.traffic_charts import inside_ratio
from fairlead.report.why_view import cause
from fairlead.units import format_size

LEAST_RATIO_SHOWN = 1.1
"""A smaller difference between pairs is not worth a number."""


def title(files: RunFiles) -> str:
    """Program and size of the run, as far as they are known."""
    if files.comparison is not None:
        program = files.comparison.program[0].rpartition("/")[2]
        return (
            f"{program} on {files.comparison.num_ranks} ranks "
            f"and {len(files.comparison.hosts)} hosts"
        )
    if files.placement is not None and (name := program_of(files.steps)) is not None:
        hosts = len(set(files.placement.host_names()))
        return f"{name} on {files.placement.num_ranks} ranks and {hosts} hosts"
    if files.traffic is not None:
        return f"Traffic of {files.traffic.num_ranks} ranks"
    if files.network is not None:
        return f"Network of {files.network.num_hosts} hosts"
    if files.jobs is not None:
        return jobs_view.title(files.jobs)
    return "Placement" if files.placement is None else f"Placement by {files.placement.method}"


def sentences(files: RunFiles) -> list[str]:
    """The findings, the most important first."""
    found: list[str] = []
    if files.comparison is not None:
        found += _gain(files.comparison)
    elif (decision := decision_sentence(files.steps)) is not None:
        found.append(decision)
    if (crossing := cause(files)) is not None:
        found.append(crossing)
    if files.jobs is not None:
        found.append(jobs_view.prediction_line(files.jobs))
    if files.network is not None:
        found += _network(files.network)
    return found + _traffic(files)


def _gain(comparison: Comparison) -> list[str]:
    best, base = comparison.fastest(), comparison.baseline
    time_s, base_s = comparison.time_s(best).value, comparison.time_s(base).value
    found = [findings(comparison)[0]]
    if best != base and not comparison.is_tie(best, base):
        runs = len(comparison.methods[best].times_s)
        found[0] = (
            f"With {best} the program took {human(time_s, SECONDS)}, with {base} "
            f"{human(base_s, SECONDS)}: it was {speed_words(speed_ratio(comparison, best))}, "
            f"each the mean of {runs} interleaved runs."
        )
    spent = (comparison.probe_s or 0.0) + (comparison.trace_s or 0.0)
    saved = base_s - time_s
    if spent > 0 and saved > 0 and not comparison.is_tie(best, base):
        found.append(
            f"Measuring took {human(spent, SECONDS)} once; that is won back after "
            f"{_runs(math.ceil(spent / saved))}."
        )
    return found


def _network(network: Network) -> list[str]:
    found = []
    all_racks = racks_of(network)
    racks = [rack for rack in all_racks if len(rack) > 1]
    if network.num_hosts > 2:
        for quantity in reversed(quantities(network)):
            found += _by_group(quantity, all_racks) if len(racks) > 1 else _spread(quantity)
    if racks:
        *first, last = (str(len(rack)) for rack in racks)
        sizes = f"{', '.join(first)} and {last}" if first else last
        found.append(
            f"{len(racks)} groups, of {sizes} hosts, are near one another: racks, as far as the "
            "measurement shows."
            if len(racks) > 1
            else f"{sizes} hosts are near one another, and the others are not."
        )
    shared = contention_lines(network)
    if shared:
        found.append(f"With flows run together: {'; '.join(shared)}.")
    found += estimate_lines(network)
    missing = len([pair for pair in network.unmeasured_pairs() if pair[0] != pair[1]])
    if missing:
        pairs = "1 pair was" if missing == 1 else f"{missing} pairs were"
        found.append(f"{pairs} not measured and left grey in the charts.")
    return found


def _by_group(quantity: Quantity, racks: Sequence[Sequence[int]]) -> list[str]:
    """The medians inside groups of hosts and between them."""
    values, scale = between_hosts(quantity.values), quantity.scale()
    near = np.zeros(values.shape, dtype=bool)
    for rack in racks:
        near[np.ix_(rack, rack)] = True
    inside, between = values[near], values[~near]
    if not (np.isfinite(inside).any() and np.isfinite(between).any()):
        return _spread(quantity)
    middles = [scale.with_unit(float(np.nanmedian(side))) for side in (inside, between)]
    return [
        f"{quantity.name} is {middles[0]} inside a group of hosts, {middles[1]} between groups."
    ]


def _spread(quantity: Quantity) -> list[str]:
    """The median of a quantity, and how far pairs differ beyond the noise."""
    values, scale = between_hosts(quantity.values), quantity.scale()
    found = contrast(values, quantity.low, quantity.high)
    if found is None:
        return []
    middle = scale.with_unit(float(np.nanmedian(values)))
    text = f"{quantity.name} between hosts is {middle} in the median"
    if found.ratio < LEAST_RATIO_SHOWN:
        certain = "differ by no more than the noise" if found.is_certain else "hardly differ"
        return [f"{text}; pairs {certain}."]
    sure = " by their 95 % intervals" if found.is_certain else ""
    return [
        f"{text}. One pair in twenty has at least {scale.with_unit(found.high)}, one in twenty at "
        f"most {scale.with_unit(found.low)}{sure}: a factor of {_two_digits(found.ratio)}."
    ]


def _two_digits(ratio: float) -> str:
    """Few digits, since more would suggest an accuracy that the ratio does not have."""
    return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _traffic(files: RunFiles) -> list[str]:
    if files.traffic is None:
        return []
    sent = format_size(float(files.traffic.carried.bytes.sum()))
    found = f"The {files.traffic.num_ranks} ranks send one another {sent}"
    before, after = files.before(), files.after()
    if after is None or math.isnan(inside := inside_ratio(files.traffic, after)):
        return [f"{found}."]
    if before is None or before.method == after.method:
        return [f"{found}; {inside * 100:.0f} % of it stays inside hosts with {after.method}."]
    was = inside_ratio(files.traffic, before)
    if f"{was:.0%}" == f"{inside:.0%}":
        both = f"{before.method} and with {after.method}"
        return [f"{found}; {inside * 100:.0f} % of it stays inside hosts, with {both}."]
    return [
        f"{found}; {was * 100:.0f} % of it stays inside hosts with {before.method}, "
        f"{inside * 100:.0f} % with {after.method}."
    ]
