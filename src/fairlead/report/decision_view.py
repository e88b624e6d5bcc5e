# SPDX-License-Identifier: Apache-2.0
"""The decision of a `fairlead run` on its page: why the ranks run where they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairlead.decide.expected_gain import TOLERATED_RATIO
from fairlead.report.learned_view import describe_learned
from fairlead.report.levers_view import did_sentence
from fairlead.report.page_table import facts, table
from fairlead.report.scales import SECONDS, human

Steps = Mapping[str, Mapping[str, Any]]
"""The facts of each step of a run's record, by the step's name."""


def program_of(steps: Steps) -> str | None:
    """The program's name without its folder, if the record has it."""
    program = steps.get("request", {}).get("program")
    return program[0].rpartition("/")[2] if program else None


def saving_words(ratio: float) -> str:
    """Such as "46 % less time" or "2 % more time"."""
    return f"{abs(ratio) * 100:.0f} % {'more' if ratio < 0 else 'less'} time"


def decision_body(steps: Steps) -> str:
    """HTML: the decision with its evidence, what each feature does, expected and actual time."""
    decision = steps.get("next_run") or steps.get("decision")
    if decision is None:
        return ""
    rows = [("reason", str(decision["line"]))] if decision.get("line") else []
    rows += _gain_rows(decision)
    rows += _time_rows(steps)
    if sentence := describe_learned(steps):
        rows.append(("what it learned", sentence))
    features = steps.get("expected", {}).get("features") or {}
    body = facts(rows)
    if features:
        levers = steps.get("decision", {}).get("levers") or {}
        taken = [
            (
                name,
                "used" if plan.get("is_taken") else "not used",
                _words_of_saving(plan),
                _why(plan, levers.get(name, {})),
            )
            for name, plan in features.items()
        ]
        columns = ("what a run can change", "here", "expected saving", "why")
        body += table("What the run changed", columns, taken)
    return body


def decision_sentence(steps: Steps) -> str | None:
    """The decision as the first sentence of the page; None without one."""
    decision = steps.get("next_run") or steps.get("decision")
    if decision is None or not decision.get("line"):
        return None
    line = str(decision["line"]).partition("; deciding took")[0].partition("; nothing had")[0]
    return f"{line[:1].upper()}{line[1:]}."


def _gain_rows(decision: Mapping[str, Any]) -> list[tuple[str, str]]:
    gain = decision.get("gain")
    if not gain:
        return []
    low, high = gain["low_ratio"], gain["high_ratio"]
    rounds = decision.get("rehearsed_rounds") or 0
    return [
        (
            "expected",
            f"{saving_words(gain['ratio'])} on the network, 95 % interval {low * 100:.0f} to "
            f"{high * 100:.0f} % less",
        ),
        (
            f"risk of losing more than {TOLERATED_RATIO * 100:.0f} %",
            f"{gain['loss_risk'] * 100:.1f} %",
        ),
        ("rehearsals", str(rounds) if rounds else "none: predicted from the measured rates"),
        ("decided in", human(decision["deciding_s"], SECONDS))
        if decision.get("deciding_s")
        else ("decided in", "nothing had to be measured"),
    ]


def _time_rows(steps: Steps) -> list[tuple[str, str]]:
    end, expected = steps.get("end", {}), steps.get("expected", {})
    rows = []
    if expected.get("predicted_s") is not None:
        rows.append(("expected time of the run", human(expected["predicted_s"], SECONDS)))
    if end.get("seconds") is not None:
        rows.append(("actual time of the run", human(end["seconds"], SECONDS)))
    if end.get("exit_code"):
        rows.append(("exit code", str(end["exit_code"])))
    return rows


def _words_of_saving(plan: Mapping[str, Any]) -> str:
    share = plan.get("saved_share")
    return "–" if share is None else f"{share * 100:.0f} %"


def _why(plan: Mapping[str, Any], at_end: Mapping[str, Any]) -> str:
    """The reason, and what a lever of a first run did."""
    did = did_sentence(at_end)
    return str(plan.get("why") or "") + (f"; what it did: {did}" if did else "")
