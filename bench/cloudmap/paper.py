# SPDX-License-Identifier: Apache-2.0
"""CloudMap's own results as far as we have them, printed beside ours."""

from __future__ import annotations

SAYS = {
    "figures 6 to 11": "no gain for cg, mg, ft, is and ep at 64 tasks; sp-B 35 %, sp-C 31 %; cg-B "
    "11 times as fast on G5.",
}
"""From its text; table II is in overhead.py."""


def beside(*figures: str) -> str:
    """A line for each of these figures."""
    return "\n".join(
        f"CloudMap, {figure}: {SAYS.get(figure, 'the values are not known to us.')}"
        for figure in figures
    )
