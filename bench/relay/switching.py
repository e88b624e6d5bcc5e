#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon messages go around a pair that has become slow while the program runs.

h0 sends to h1 all the time, with relays. After some seconds the pair falls to a tenth. Printed is
the time from the beginning of the first message that this slows down until three messages in a row
are four times as fast as the fallen pair. Rates are lower than the scenario's, as all hosts share
the processors of this machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import threading
from pathlib import Path

import numpy as np
from clouds import compiled, measured, run_in

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

FALLEN_RATIO = 0.1
SLOW_RATIO = 4.0
"""A message that takes so many times what messages took before has met the fallen pair."""
WANTED_RATIO = 4.0
"""Messages by relays are so many times as fast as the fallen pair (wanted of a degraded pair)."""
WANTED_S = 1.0
IN_A_ROW = 3
"""One fast message alone may be a trial."""


@dataclasses.dataclass(frozen=True)
class Switch:
    """What one run showed; `after_s` is inf if messages stayed slow."""

    after_s: float
    usual_s: float
    slow_s: float
    last_s: float


def main() -> None:
    options = parsed()
    scenario = Scenario.load(options.scenario, options.hosts).slower(options.slower)
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        program = compiled(Path(__file__).with_name("pingpong.c"), folder)
        network = measured(lab)
        for num_bytes in options.bytes:
            argv = [str(program), str(num_bytes), "1", "0", "1", str(options.seconds)]
            switches = []
            for repeat in range(options.repeats):
                fall = threading.Timer(options.after, lab.degrade, ("h0", "h1", FALLEN_RATIO))
                fall.start()
                result = run_in(
                    lab, network, argv, len(lab.hosts), folder / f"{num_bytes}-{repeat}",
                    with_relays=True,
                )  # fmt: skip
                fall.join()
                lab.degrade("h0", "h1", 1 / FALLEN_RATIO)
                switches.append(switch_of(result["output"]))
            report(options, num_bytes, switches)


def switch_of(output: str) -> Switch:
    """Read the lines of `pingpong` that follow one pair: src, dst, end of the round, its time."""
    rows = np.array([line.split() for line in output.splitlines()], dtype=float)
    ended_s, took_s = rows[:, 2], rows[:, 3]
    began_s = ended_s - took_s
    usual_s = float(np.median(took_s[: len(took_s) // 4]))
    slow = np.flatnonzero(took_s > SLOW_RATIO * usual_s)
    if len(slow) == 0:
        raise SystemExit("the pair did not fall while the program ran; set --after and --seconds")
    onset = slow[0]
    is_fast = took_s[onset:] < usual_s / FALLEN_RATIO / WANTED_RATIO
    lasting = np.convolve(is_fast, np.ones(IN_A_ROW), "valid") == IN_A_ROW
    after_s = float("inf")
    if lasting.any():
        after_s = float(began_s[onset + int(np.argmax(lasting))] - began_s[onset])
    return Switch(after_s, usual_s, float(took_s[onset]), float(np.median(took_s[-10:])))


def report(options: argparse.Namespace, num_bytes: int, switches: list[Switch]) -> None:
    after_s = [switch.after_s for switch in switches]
    interval = "too few runs for an interval"
    if len(after_s) > 1:
        mean = mean_interval(after_s)
        interval = f"[{mean.low:.2f}, {mean.high:.2f}]"
    usual_s, slow_s, last_s = np.median(
        [(switch.usual_s, switch.slow_s, switch.last_s) for switch in switches], axis=0
    )
    print(
        f"{options.scenario} / {options.slower:g}, {num_bytes} bytes, {len(after_s)} runs: "
        f"{np.mean(after_s):.2f} s {interval} until messages go around h0 -> h1, at most "
        f"{max(after_s):.2f} s (wanted: {WANTED_S:g} s); a message took {1e3 * usual_s:.0f} ms "
        f"before, {1e3 * slow_s:.0f} ms then, {1e3 * last_s:.0f} ms at the end",
        flush=True,
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="one run")
    parser.add_argument("--scenario", default="flat")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--slower", type=float, default=2.0, help="divides the scenario's rates")
    parser.add_argument("--bytes", type=int, nargs="+", default=[1 << 18, 1 << 20])
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--after", type=float, default=6.0, help="it falls so long after the start")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    options = parser.parse_args()
    if options.short:
        # Routers and launcher have to have started before it falls, also on a busy machine.
        options.repeats, options.bytes = 1, [1 << 18]
        options.after, options.seconds = 12.0, 16.0
    return options


if __name__ == "__main__":
    main()
