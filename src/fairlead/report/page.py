# SPDX-License-Identifier: Apache-2.0
"""The page of a run: one HTML file that loads nothing from the network."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from fairlead.files.archive import write_text
from fairlead.flows.compare.comparison import Comparison
from fairlead.report import jobs_view
from fairlead.report.charts import Chart, as_script_data
from fairlead.report.comparison_tables import (
    prediction_sentences,
    table_of_predictions,
    table_of_runs,
)
from fairlead.report.decision_view import decision_body
from fairlead.report.history import history_chart, history_sentences, history_table
from fairlead.report.host_rates_view import host_rates_body
from fairlead.report.legend import terms_of
from fairlead.report.network_charts import network_charts
from fairlead.report.origin import network_lines, origin_lines, traffic_lines
from fairlead.report.page_table import facts, fold, table
from fairlead.report.placement_view import rank_ranges, ranks_by_host
from fairlead.report.run_files import RunFiles
from fairlead.report.scales import SECONDS, human
from fairlead.report.summary import sentences, title
from fairlead.report.time_charts import time_charts
from fairlead.report.traffic_charts import traffic_charts
from fairlead.report.why_view import why_body

# Between a number and its unit a line must not break.
_UNIT_SPACE = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|(?:[kMGT]|[KMGT]i)?B(?:/s)?)(?!\w))")


class Section(NamedTuple):
    """A part of the page: charts, then HTML that is safe already."""

    title: str
    charts: list[Chart]
    body: str = ""


def write_report(run: Path | Sequence[Path], path: Path | str) -> list[str]:
    """Write the page of a run.

    Args:
        run: A run folder, or the files to show.
        path: The HTML file; a reader never sees part of it.

    Returns:
        Titles of the sections of the page.

    Raises:
        InputError: A file is damaged, there is nothing to show, or the page cannot be written.
    """
    files = RunFiles.load(run)
    sections = _sections(files)
    write_text(path, _page(title(files), sentences(files), sections))
    return [section.title for section in sections]


def _sections(files: RunFiles) -> list[Section]:
    sections = []
    if files.comparison is None and (decision := decision_body(files.steps)):
        sections.append(Section("Decision", [], decision))
    if (why := why_body(files)) != "":
        sections.append(Section("Where the bytes go", [], why))
    if files.comparison is not None:
        comparison = files.comparison
        sections.append(Section("Measured times", time_charts(comparison), _times(comparison)))
    if files.history:
        paragraphs = "".join(map(_paragraph, history_sentences(files.history)))
        body = paragraphs + history_table(files.history)
        sections.append(Section("History of this program", [history_chart(files.history)], body))
    if files.network is not None:
        sections.append(Section("Network", network_charts(files.network)))
        if files.network.host_rates is not None:
            sections.append(Section("Hosts", [], host_rates_body(files.network)))
    if files.traffic is not None:
        charts = traffic_charts(files.traffic, files.before(), files.after())
        sections.append(Section("Traffic", charts))
    if (after := files.after()) is not None:
        pairs = [
            (host, rank_ranges(ranks.tolist()) or "none")
            for host, ranks in zip(after.hosts, ranks_by_host(after), strict=True)
        ]
        sections.append(Section(f"Placement by {after.method}", [], facts(pairs)))
    if (jobs := files.jobs) is not None:
        body = table("What the simulator expects", jobs_view.COLUMNS, jobs_view.rows(jobs))
        body += facts(jobs_view.ranks_of_hosts(jobs))
        sections.append(Section(f"Jobs placed by {jobs.method}", [], body))
    text = " ".join([*sentences(files), *(section.title + section.body for section in sections)])
    if terms := terms_of(text):
        sections.append(Section("Terms", [], facts(terms)))
    sections.append(Section("What was measured when", [], _origins(files)))
    return sections


def _page(heading: str, summary: list[str], sections: list[Section]) -> str:
    # Plotly takes a second to import; only a page needs it.
    from plotly.offline import get_plotlyjs  # noqa: PLC0415

    style, starter = (
        resources.files("fairlead.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js")
    )
    # A browser hashes the parsed text, where a line ends with "\n" only.
    scripts = [text.replace("\r\n", "\n").replace("\r", "\n") for text in (get_plotlyjs(), starter)]
    charts = [chart for section in sections for chart in section.charts]
    numbers = iter(range(len(charts)))
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(heading)} – Fairlead</title><style>{style}</style></head><body>",
        f'<header><p class="brand">Fairlead</p><h1>{html.escape(heading)}</h1>',
        *map(_paragraph, summary),
        "</header><main>",
        *(_section(section, numbers) for section in sections),
        "</main><noscript><p>The charts of this page need JavaScript; the tables below them do ",
        "not.</p></noscript>",
        '<script type="application/json" id="charts">',
        as_script_data([chart.figure for chart in charts]),
        "</script>",
        *(f"<script>{script}</script>" for script in scripts),
        "</body></html>\n",
    ]
    return "".join(parts)


def _paragraph(sentence: str) -> str:
    return f"<p>{html.escape(_UNIT_SPACE.sub(chr(0xA0), sentence))}</p>"


def _policy(scripts: Sequence[str]) -> str:
    """Only these scripts run, and nothing is fetched (W3C Content Security Policy 3)."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _section(section: Section, numbers: Iterator[int]) -> str:
    figures = "".join(_figure(chart, next(numbers)) for chart in section.charts)
    is_row = len(section.charts) == 3 and all(chart.is_coarse for chart in section.charts)
    layout = "charts three" if is_row else "charts"
    grid = f'<div class="{layout}">{figures}</div>' if figures else ""
    return f"<section><h2>{html.escape(section.title)}</h2>{grid}{section.body}</section>"


def _figure(chart: Chart, number: int) -> str:
    wide = "square" if chart.height_px is None else "wide"
    style = "" if chart.height_px is None else f' style="height:{chart.height_px}px"'
    values = ""
    if chart.table is not None:
        columns, rows = chart.table
        values = fold("Values as a table", table(f"{chart.title}: values", columns, rows))
    return (
        f'<figure class="{wide}"><figcaption><h3>{html.escape(chart.title)}</h3>'
        f"<p>{html.escape(_UNIT_SPACE.sub(chr(0xA0), chart.note))}</p></figcaption>"
        f'<div class="plot" id="chart-{number}" role="img" '
        f'aria-label="{html.escape(chart.summary)}"{style}></div>{values}</figure>'
    )


def _times(comparison: Comparison) -> str:
    notes = "".join(map(_paragraph, prediction_sentences(comparison)))
    predicted = f"<h3>Predicted before the runs</h3>{table_of_predictions(comparison)}"
    return table_of_runs(comparison) + predicted + notes


def _origins(files: RunFiles) -> str:
    parts = []
    if files.network is not None:
        parts.append(f"<h3>Network</h3>{facts(network_lines(files.network))}")
    if files.traffic is not None:
        parts.append(f"<h3>Traffic</h3>{facts(traffic_lines(files.traffic))}")
    if files.comparison is not None:
        parts.append(f"<h3>Comparison</h3>{facts(_comparison_facts(files.comparison))}")
    if files.placement is not None:
        origin = {"method": files.placement.method, **files.placement.origin}
        parts.append(f"<h3>Placement</h3>{facts(origin_lines(origin))}")
    if files.jobs is not None:
        machine = dataclasses.asdict(files.jobs.prediction.machine)
        parts.append(f"<h3>Simulated machine</h3>{facts(origin_lines(machine))}")
    return "".join(parts)


def _comparison_facts(comparison: Comparison) -> list[tuple[str, str]]:
    return [
        ("program", " ".join(comparison.program)),
        ("when", comparison.when.isoformat(timespec="seconds")),
        ("MPI", comparison.mpi),
        ("hosts", " ".join(comparison.hosts)),
        ("repeats", str(comparison.repeats)),
        *(
            (name, human(value, SECONDS))
            for name, value in (("probe", comparison.probe_s), ("trace", comparison.trace_s))
            if value
        ),
    ]
