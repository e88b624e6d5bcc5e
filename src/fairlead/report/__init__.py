# SPDX-License-Identifier: Apache-2.0
"""Showing networks, traffic and runs in the terminal and as a page."""

from fairlead.report.advice_view import facts as advice_facts
from fairlead.report.advice_view import view as advice_view
from fairlead.report.comparison_view import comparison_table
from fairlead.report.comparison_view import facts as comparison_facts
from fairlead.report.files import load_any
from fairlead.report.page import write_report
from fairlead.report.terminal import facts, view

__all__ = [
    "advice_facts",
    "advice_view",
    "comparison_facts",
    "comparison_table",
    "facts",
    "load_any",
    "view",
    "write_report",
]
