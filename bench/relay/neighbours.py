#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a job loses on hosts over which another job's messages are relayed.

The pair h0 -> h1 is slow. A job sends over it all the time, by the MPI alone or with relays, which
h2 and h3 are, in turns. On these two hosts a second job runs by the MPI alone: h2 sends to h3
without a pause, so that it needs all of the interfaces that it shares with what is relayed. Printed
is the time of its messages with relays as a part of that with the MPI alone.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from clouds import compiled, measured, repeat_meanwhile, run_in

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

WANTED_RATIO = 1.05
OWN_PART = 0.6
"""The second job runs for this part of the first one's time, so that it is never alone."""


def main() -> None:
    options = parsed()
    scenario = Scenario.load("flat", 4).slower(options.slower)
    own_s: dict[bool, list[float]] = {False: [], True: []}
    sending_s: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        program = str(compiled(Path(__file__).with_name("pingpong.c"), folder))
        lab.degrade("h0", "h1", options.degraded)
        network = measured(lab)
        relays = folder / "relays"
        relays.write_text("".join(lab.hostfile.read_text().splitlines(keepends=True)[2:]))
        pair = [program, str(options.bytes), "1", "0", "1"]
        sending = [*pair, str(options.seconds)]
        own = [*pair, str(OWN_PART * options.seconds)]
        for repeat in range(options.repeats):
            for with_relays in (False, True) if repeat % 2 else (True, False):
                work = folder / f"{repeat}-{with_relays}"
                with repeat_meanwhile(
                    lab, network, sending, 4, work / "sending", with_relays=with_relays
                ) as others:
                    result = run_in(
                        lab, network, own, 2, work / "own", with_relays=False, hostfile=relays
                    )
                own_s[with_relays].append(mean_s(result["output"]))
                sending_s[with_relays].append(mean_s(others[0]["output"]))
    report(options, own_s, sending_s)


def mean_s(output: str) -> float:
    """Mean time of a message in the second half of a run, when the other job has surely begun."""
    ended_s, took_s = np.array([line.split()[2:] for line in output.splitlines()], dtype=float).T
    return float(took_s[ended_s > 0.5 * ended_s[-1]].mean())


def report(options: argparse.Namespace, own_s: dict, sending_s: dict) -> None:
    mean = mean_interval(np.divide(own_s[True], own_s[False]).tolist())
    alone, with_relays = (
        options.bytes / np.mean(sending_s[has_relays]) / 1e6 for has_relays in (False, True)
    )
    print(
        f"flat / {options.slower:g}, h0 -> h1 at {options.degraded:g}, messages of "
        f"{options.bytes} bytes, {options.repeats} runs:\n"
        f"  h0 -> h1: {alone:.2f} MB/s by the MPI alone, {with_relays:.2f} MB/s with relays\n"
        f"  messages of the job on the relays' hosts take {mean.value:.3f} "
        f"[{mean.low:.3f}, {mean.high:.3f}] of the time with the MPI alone "
        f"(wanted: at most {WANTED_RATIO})"
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a run of 2 s")
    parser.add_argument("--bytes", type=int, default=1 << 20, help="of a message of either job")
    parser.add_argument("--degraded", type=float, default=0.1, help="h0 -> h1, of the others' rate")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--slower", type=float, default=10.0, help="divides the scenario's rates")
    options = parser.parse_args()
    if options.short:
        options.repeats, options.seconds = 1, 2.0
    return options


if __name__ == "__main__":
    main()
