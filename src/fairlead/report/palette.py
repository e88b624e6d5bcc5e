# SPDX-License-Identifier: Apache-2.0
"""Colours for the terminal and the page: perceptually uniform and safe for the colour-blind."""

from __future__ import annotations

# Smith and van der Walt 2015 (viridis): no grey in it, so that grey can stand for "not measured".
VIRIDIS = (
    *("#440154", "#482878", "#3e4989", "#31688e", "#26828e"),
    *("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
)

# After Okabe and Ito 2008, the blue between its two blues: readable on white and on black.
BLUE = "#2f8fce"
ORANGE = "#e69f00"


def viridis(position_ratio: float) -> tuple[int, int, int]:
    """Red, green and blue (0..255) at a position from 0 (violet) to 1 (yellow)."""
    place = min(max(position_ratio, 0.0), 1.0) * (len(VIRIDIS) - 1)
    below = min(int(place), len(VIRIDIS) - 2)
    low, high = (_rgb(color) for color in VIRIDIS[below : below + 2])
    mixed = [round(a + (b - a) * (place - below)) for a, b in zip(low, high, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def ink_on(color: tuple[int, int, int]) -> str:
    """Black or white, whichever reads better on the colour (WCAG 2 relative luminance)."""
    red, green, blue = (_linear(channel / 255) for channel in color)
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
