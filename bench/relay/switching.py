#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon messages go around a pair that has become slow while the program runs.

After some seconds the pair h0 -> h1 falls. Printed is, for each run, the time from the beginning of
the first message that this slows down until three rounds in a row are fast again, and what a round
took before, and in the end. Patterns:

pair   h0 sends to h1 all the time; the pair falls to a tenth
ring   each of six hosts sends to the next one; the pair falls to a twentieth

bench/relay/switching.py                                        six runs of each size
bench/relay/switching.py --pattern ring --rule trials --rule mcm    20 of each rule, in turns

Rates are lower than the scenario's, as all hosts share the processors of this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from clouds import compiled, measured, run_in

from fairlead.act.plan.relay import RELAY_RULES
from fairlead.files.archive import write_text
from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

SLOW_RATIO = 4.0
"""A message that takes so many times what messages took before has met the fallen pair."""
WANTED_RATIO = 4.0
"""Messages by relays are so many times as fast as the fallen pair (wanted of a degraded pair)."""
WANTED_S = 1.0
IN_A_ROW = 3
"""One fast message alone may be a trial."""
POLL_S = 0.01
LAST_ROUNDS = 20
"""After so many rounds the end is steady."""


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Who sends to whom: a program, its number of hosts, and to what part h0 -> h1 falls."""

    program: str
    hosts: int
    fallen_ratio: float
    sizes: tuple[int, ...]
    repeats: int

    def argv(self, program: Path, num_bytes: int, seconds: float, begun: Path) -> list[str]:
        pair = ["1", "0", "1"] if self.program == "pingpong" else []
        return [str(program), str(num_bytes), *pair, str(seconds), str(begun)]


PATTERNS = {
    "pair": Pattern("pingpong", 4, 0.1, (1 << 18, 1 << 20), 6),
    "ring": Pattern("ring", 6, 0.05, (1 << 20,), 20),
}


@dataclasses.dataclass(frozen=True)
class Switch:
    """What one run showed; `after_s` is inf if messages stayed slow."""

    rule: str
    after_s: float
    usual_s: float
    slow_s: float
    last_s: float


def main() -> None:
    options = parsed()
    pattern = PATTERNS[options.pattern]
    scenario = Scenario.load(options.scenario, options.hosts).slower(options.slower)
    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        program = compiled(Path(__file__).with_name(f"{pattern.program}.c"), folder)
        network = measured(lab)
        for num_bytes in options.bytes:
            switches: list[Switch] = []
            for repeat in range(options.repeats):
                for rule in options.rule[:: 1 if repeat % 2 else -1]:
                    work = folder / f"{num_bytes}-{repeat}-{rule}"
                    begun = folder / f"{work.name}.begun"
                    argv = pattern.argv(program, num_bytes, options.seconds, begun)
                    with falling(lab, begun, options):
                        result = run_in(
                            lab, network, argv, len(lab.hosts), work, with_relays=True, rule=rule
                        )
                    if options.keep is not None:
                        options.keep.mkdir(parents=True, exist_ok=True)
                        write_text(options.keep / f"{work.name}.txt", result["output"])
                    switches.append(switch_of(result["output"], rule, options.ratio))
                    print(line_of(repeat, switches[-1]), flush=True)
            for rule in options.rule:
                of_rule = [switch for switch in switches if switch.rule == rule]
                report(options, num_bytes, of_rule)
                figures += figures_of(num_bytes, of_rule)
    if options.figures is not None:
        write_text(options.figures, json.dumps(figures))


@contextlib.contextmanager
def falling(lab: Lab, begun: Path, options: argparse.Namespace) -> Iterator[None]:
    """h0 -> h1 falls some time after the program has begun, until the end of the block."""
    is_over = threading.Event()
    has_fallen = False

    def fall() -> None:
        nonlocal has_fallen
        while not begun.exists():
            if is_over.wait(POLL_S):
                return
        if is_over.wait(options.after):
            return
        lab.degrade("h0", "h1", options.ratio)
        has_fallen = True

    thread = threading.Thread(target=fall)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        if has_fallen:
            lab.degrade("h0", "h1", 1 / options.ratio)


def switch_of(output: str, rule: str, fallen_ratio: float) -> Switch:
    """Read a program's lines: src, dst, end of the round, its time."""
    rows = np.array([line.split() for line in output.splitlines()], dtype=float)
    ended_s, took_s = rows[:, 2], rows[:, 3]
    began_s = ended_s - took_s
    usual_s = float(np.median(took_s[: len(took_s) // 4]))
    # Routers and connections begin: a slow round then is not yet the fall.
    num_first = len(took_s) // 4
    slow = num_first + np.flatnonzero(took_s[num_first:] > SLOW_RATIO * usual_s)
    if len(slow) == 0:
        raise SystemExit("the pair did not fall while the program ran; set --after and --seconds")
    onset = slow[0]
    is_fast = took_s[onset:] < usual_s / fallen_ratio / WANTED_RATIO
    lasting = np.convolve(is_fast, np.ones(IN_A_ROW), "valid") == IN_A_ROW
    after_s = float("inf")
    if lasting.any():
        after_s = float(began_s[onset + int(np.argmax(lasting))] - began_s[onset])
    last_s = float(np.median(took_s[-LAST_ROUNDS:]))
    return Switch(rule, after_s, usual_s, float(took_s[onset]), last_s)


def line_of(repeat: int, switch: Switch) -> str:
    return (
        f"run {repeat + 1}, {switch.rule}: left after {switch.after_s:.2f} s; a round took "
        f"{1e3 * switch.usual_s:.1f} ms before, {1e3 * switch.slow_s:.0f} ms then, "
        f"{1e3 * switch.last_s:.1f} ms at the end; load {os.getloadavg()[0]:.1f}"
    )


def report(options: argparse.Namespace, num_bytes: int, switches: Sequence[Switch]) -> None:
    after_s = [switch.after_s for switch in switches]
    interval = "too few runs for an interval"
    if len(after_s) > 1 and np.all(np.isfinite(after_s)):
        mean = mean_interval(after_s)
        interval = f"[{mean.low:.2f}, {mean.high:.2f}]"
    usual_s, slow_s, last_s = np.median(
        [(switch.usual_s, switch.slow_s, switch.last_s) for switch in switches], axis=0
    )
    num_soon = sum(value < WANTED_S for value in after_s)
    print(
        f"{options.scenario} / {options.slower:g}, {options.pattern}, {num_bytes} bytes, "
        f"{switches[0].rule}, {len(after_s)} runs: "
        f"{np.mean(after_s):.2f} s {interval} until messages go around h0 -> h1, at most "
        f"{max(after_s):.2f} s, {num_soon} below {WANTED_S:g} s (wanted: all); a round took "
        f"{1e3 * usual_s:.1f} ms before, {1e3 * slow_s:.0f} ms then, {1e3 * last_s:.1f} ms at the "
        "end",
        flush=True,
    )


def figures_of(num_bytes: int, switches: Sequence[Switch]) -> list[dict[str, Any]]:
    """What `bench/papers` keeps: each run, and their means."""
    rule = switches[0].rule
    of = f"{num_bytes >> 10} KiB, {rule}"
    after_s = [switch.after_s for switch in switches]
    return [
        figure(f"{of}: until left", "s", after_s),
        figure(f"{of}: at most", "s", [max(after_s)]),
        figure(f"{of}: below {WANTED_S:g} s", "% of the runs",
               [100 * float(np.mean([value < WANTED_S for value in after_s]))]),
        figure(f"{of}: a round before", "ms", [1e3 * switch.usual_s for switch in switches]),
        figure(f"{of}: a round at the end", "ms", [1e3 * switch.last_s for switch in switches]),
    ]  # fmt: skip


def figure(name: str, unit: str, samples: Sequence[float]) -> dict[str, Any]:
    """The mean, with its interval where there are several samples."""
    if not np.all(np.isfinite(samples)):
        raise SystemExit(f"{name}: messages stayed slow in a run; nothing is kept")
    mean = mean_interval(samples) if len(samples) > 1 else None
    return {
        "name": name, "unit": unit, "paper": None, "value": float(np.mean(samples)),
        "low": mean.low if mean else None, "high": mean.high if mean else None,
        "samples": len(samples),
    }  # fmt: skip


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="one run of each rule")
    parser.add_argument("--pattern", choices=PATTERNS, default="pair")
    parser.add_argument("--rule", action="append", choices=RELAY_RULES, help="repeatable: in turns")
    parser.add_argument("--scenario", default="flat")
    parser.add_argument("--hosts", type=int, help="default: the pattern's")
    parser.add_argument("--ratio", type=float, help="to which the pair falls; the pattern's")
    parser.add_argument("--slower", type=float, default=2.0, help="divides the scenario's rates")
    parser.add_argument("--bytes", type=int, nargs="+", help="default: the pattern's")
    parser.add_argument("--repeats", type=int, help="runs of each rule; the pattern's")
    parser.add_argument(
        "--after", type=float, default=4.0, help="seconds of the program until it falls"
    )
    parser.add_argument("--seconds", type=float, default=12.0, help="of each run")
    parser.add_argument("--figures", type=Path, help="write the figures there, as JSON")
    parser.add_argument("--keep", type=Path, help="folder for what the programs print")
    options = parser.parse_args()
    pattern = PATTERNS[options.pattern]
    options.rule = options.rule or [RELAY_RULES[0]]
    options.hosts = options.hosts or pattern.hosts
    options.ratio = options.ratio or pattern.fallen_ratio
    options.bytes = options.bytes or pattern.sizes
    options.repeats = options.repeats or pattern.repeats
    if options.short:
        options.repeats, options.bytes = 1, options.bytes[:1]
        options.after, options.seconds = 2.0, 6.0
    return options


if __name__ == "__main__":
    main()
