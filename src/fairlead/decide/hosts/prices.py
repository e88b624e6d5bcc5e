# SPDX-License-Identifier: Apache-2.0
"""What each host costs per hour, as the user gives it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.errors import InputError
from fairlead.files.lookup import is_file

__all__ = ["check_prices", "parse_prices"]


def parse_prices(text: str, hosts: Sequence[str]) -> dict[str, float]:
    """Prices per hour from `h0=0.5,h1=0.25`, one number for every host, or a file.

    A file has a line `HOST PRICE` or `HOST=PRICE` for each host; `#` starts a comment. The currency
    does not matter.

    Raises:
        InputError: The file cannot be read, a line is not understood, or the prices are not those
            of the hosts; the message names the place.
    """
    path = Path(text)
    if is_file(path):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: prices cannot be read: {error}") from error
        places = [(f"{path}:{number}", line) for number, line in enumerate(lines, 1)]
    elif "=" in text:
        places = [("--prices", part) for part in text.split(",")]
    else:
        price = _number(text, "--prices", "neither a file, nor host=price,..., nor a number")
        return check_prices(dict.fromkeys(hosts, price), hosts)
    prices: dict[str, float] = {}
    for place, line in places:
        content = line.partition("#")[0].strip()
        if not content:
            continue
        words = content.replace("=", " ").split()
        if len(words) != 2:
            raise InputError(f"{place}: expected a host and its price, got {content!r}")
        host, price_text = words
        if host in prices:
            raise InputError(f"{place}: host {host!r} has a price already")
        prices[host] = _number(price_text, place, "not a number")
    return check_prices(prices, hosts)


def check_prices(prices: Mapping[str, float], hosts: Sequence[str]) -> dict[str, float]:
    """The prices of the hosts.

    Raises:
        InputError: A host is unknown or has no price, or a price is not finite and >= 0.
    """
    for host, price in prices.items():
        if host not in hosts:
            raise InputError(f"prices: unknown host {host!r}; there are {', '.join(hosts)}")
        if not (math.isfinite(price) and price >= 0):
            raise InputError(f"prices: host {host!r}: must be finite and >= 0, got {price}")
    for host in hosts:
        if host not in prices:
            raise InputError(f"prices: host {host!r} has none")
    return {host: float(prices[host]) for host in hosts}


def _number(text: str, place: str, problem: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{place}: {text!r} is {problem}") from None
