# SPDX-License-Identifier: Apache-2.0
"""What the terms of the page mean."""

from __future__ import annotations

TERMS = {
    "launcher": "The placement that your launcher makes without Fairlead; others are compared "
    "with it.",
    "method": "An algorithm that computes a placement: optimize is Fairlead's own, scotch "
    "CloudMap's; blocked fills one host after another, cyclic deals ranks out in turn.",
    "placement": "The host of each rank.",
    "rack": "Hosts that the measurement shows near one another, whatever they are called.",
    "bottleneck": "An interface, or pairs of hosts, whose messages share a limited rate.",
    "time on the network": "Predicted time of the messages on the measured rates; computing is "
    "not in it.",
    "rehearsal": "The program's messages, sent on two placements in turns before it starts.",
    "95 % interval": "Of 100 such intervals, about 95 contain the true value. One that contains 1 "
    "shows no difference.",
}


def terms_of(text: str) -> list[tuple[str, str]]:
    """The terms that the page uses."""
    return [(term, meaning) for term, meaning in TERMS.items() if term in text]
