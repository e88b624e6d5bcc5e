# SPDX-License-Identifier: Apache-2.0
"""The page on paper: A4, charts whole, columns of tables not cut, nothing folded."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser

import pytest
from browser import browse
from report_samples import save_run

from fairlead.report.page import write_report

HOSTS = [f"node{number}" for number in range(8)]
PAPER_MM = 182, 269  # A4 within the page's margins
PX_PER_MM = 96 / 25.4  # CSS Values and Units 3, section 6.2

# As a printer has it: charts are drawn for the screen, then the rules for print hold.
LOOK = """
const inside = (part, whole) =>
  part.left >= whole.left - 1 && part.right <= whole.right + 1 &&
  part.top >= whole.top - 1 && part.bottom <= whole.bottom + 1;
const box = (element) => element.getBoundingClientRect();
const style = (element, name) => getComputedStyle(element).getPropertyValue(name);
const all = (names) => [...document.querySelectorAll(names)];
function look() {
  return {
    figures: all("figure").map((figure) => ({
      height: box(figure).height,
      is_kept_whole: style(figure, "break-inside") == "avoid",
      num_drawings: figure.querySelectorAll(".main-svg").length,
      holds_its_drawings: [...figure.querySelectorAll(".main-svg")].every(
        (drawing) => inside(box(drawing), box(figure))),
    })),
    tables: all("main table").filter((table) => table.checkVisibility()).map((table) => ({
      is_cut: box(table).right > box(document.body).right + 1,
      scrolls: table.parentElement.scrollWidth > table.parentElement.clientWidth + 1,
      head: style(table.tHead, "display"),
      rows: [...new Set([...table.rows].map((row) => style(row, "break-inside")))],
    })),
    folded: all("details:not([open]), summary").filter((one) => one.checkVisibility()).length,
    ink: style(document.body, "color"),
    paper: style(document.body, "background-color"),
  };
}
addEventListener("load", () => setTimeout(() => {
  document.documentElement.style.width = "WIDTHmm";
  const found = { screen: look() };
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule.media && rule.media.mediaText == "print") rule.media.mediaText = "all";
  found.print = look();
  document.body.dataset.found = JSON.stringify(found);
}, 10000));
""".replace("WIDTH", str(PAPER_MM[0]))


class Body(HTMLParser):
    """What the script has found."""

    def __init__(self, source):
        super().__init__()
        self.found = None
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        if tag == "body":
            self.found = json.loads(html.unescape(dict(attributes)["data-found"]))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = save_run(tmp_path_factory.mktemp("run"), HOSTS, num_ranks=32)
    write_report(folder, folder / "report.html")
    return folder


@pytest.fixture(scope="module")
def found(run, tmp_path_factory):
    page = (run / "report.html").read_text()
    # The page lets no other script run.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page, count=1)
    (run / "looked-at.html").write_text(page.replace("</body>", f"<script>{LOOK}</script></body>"))
    profile = tmp_path_factory.mktemp("profile")
    return Body(browse(run / "looked-at.html", profile, "--dump-dom")).found


def test_each_chart_stays_whole_and_fits_a_page(found):
    figures = found["print"]["figures"]
    drawn = [figure for figure in figures if figure["num_drawings"]]
    assert len(drawn) == 1 + 6 + 3
    assert all(figure["is_kept_whole"] for figure in figures)
    assert all(figure["holds_its_drawings"] for figure in drawn)
    assert max(figure["height"] for figure in drawn) <= PAPER_MM[1] * PX_PER_MM
    # On the screen the drawings are wider than paper.
    assert not all(figure["holds_its_drawings"] for figure in found["screen"]["figures"])


def test_no_column_is_cut_and_heads_are_repeated(found):
    tables = found["print"]["tables"]
    assert tables
    for table in tables:
        assert table == {
            "is_cut": False, "scrolls": False, "head": "table-header-group", "rows": ["avoid"]
        }  # fmt: skip
    assert any(table["scrolls"] for table in found["screen"]["tables"])


def test_ink_is_black_on_white_and_nothing_is_folded(found):
    assert found["print"]["ink"] == "rgb(0, 0, 0)"
    assert found["print"]["paper"] == "rgb(255, 255, 255)"
    assert found["print"]["folded"] == 0
    assert found["screen"]["folded"] > 0


def test_paper_is_a4(run, tmp_path):
    browse(
        run / "report.html", tmp_path / "profile", "--no-pdf-header-footer",
        f"--print-to-pdf={tmp_path / 'report.pdf'}",
    )  # fmt: skip
    pages = re.findall(
        rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", (tmp_path / "report.pdf").read_bytes()
    )
    assert len(pages) > 1
    # In points, 72 an inch: 210 mm and 297 mm.
    assert {tuple(round(float(side)) for side in page) for page in pages} == {(595, 842)}
