# SPDX-License-Identifier: Apache-2.0
"""Advice on rented hosts: which are bad, how many are enough, which set of them is the cheapest."""

from fairlead.decide.hosts.advise import ENOUGH_RATIO, Advice, HostAdvice, LeavingOut, advise
from fairlead.decide.hosts.bad_hosts import (
    CLEAR_RATIO,
    FEWEST_HOSTS,
    BadHost,
    SlowPair,
    Symptom,
    find_bad_hosts,
)
from fairlead.decide.hosts.prices import parse_prices
from fairlead.decide.hosts.trials import HostSet

__all__ = [
    "CLEAR_RATIO",
    "ENOUGH_RATIO",
    "FEWEST_HOSTS",
    "Advice",
    "BadHost",
    "HostAdvice",
    "HostSet",
    "LeavingOut",
    "SlowPair",
    "Symptom",
    "advise",
    "find_bad_hosts",
    "parse_prices",
]
