# SPDX-License-Identifier: Apache-2.0
"""The comparison of methods: its file, and what is derived from it."""

from __future__ import annotations

import json

import numpy as np
import pydantic
import pytest
from report_samples import comparison, runs

from fairlead.errors import InputError
from fairlead.flows.compare.comparison import Comparison

HOSTS = ["a", "b"]


def test_file_holds_all_that_was_saved(tmp_path):
    given = comparison(HOSTS)
    given.save(tmp_path / "comparison.json")

    assert Comparison.load(tmp_path / "comparison.json") == given


def test_unmeasured_prediction_survives_the_file(tmp_path):
    methods = {"launcher": runs(HOSTS, [0, 1], [1.0], float("nan"))}
    comparison(HOSTS, 2, methods=methods).save(tmp_path / "c.json")

    assert Comparison.load(tmp_path / "c.json").methods["launcher"].predicted.comm_time_s is None


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("kind", "placement", "kind"),
        ("version", 1, "version"),
        ("baseline", "nobody", "nobody"),
        ("num_ranks", 9, "not 9"),
        ("num_ranks", "8", "num_ranks"),
        ("when", "yesterday", "when"),
        ("hosts", ["a"], "'b'"),
        ("surprise", 1, "surprise"),
    ],
)
def test_damaged_field_is_named(tmp_path, field, value, named):
    stored = json.loads(comparison(HOSTS).model_dump_json())
    path = tmp_path / "c.json"
    path.write_text(json.dumps({**stored, field: value}))

    with pytest.raises(InputError, match="c.json: .*" + named):
        Comparison.load(path)


@pytest.mark.parametrize(
    "change", [{"times_s": []}, {"times_s": [-1.0]}, {"host_of_rank": [0, 1, 2, 0, 0, 0, 0, 0]}]
)
def test_impossible_runs_are_refused(tmp_path, change):
    stored = json.loads(comparison(HOSTS).model_dump_json())
    stored["methods"]["scotch"].update(change)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(stored))

    with pytest.raises(InputError, match=r"methods\.scotch"):
        Comparison.load(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "comparison"}', "\x00"])
def test_foreign_text_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)

    with pytest.raises(InputError, match=r"c\.json: ") as caught:
        Comparison.load(path)

    assert "\n" not in str(caught.value)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json: no such file"):
        Comparison.load(tmp_path / "nowhere.json")


def test_time_ratio_pairs_run_by_run():
    compared = comparison(HOSTS)

    # scotch has the launcher's noise, run by run, so the ratio is exact; cyclic has it reversed.
    assert compared.time_ratio("scotch") == pytest.approx((0.5, 0.5, 0.5))
    assert compared.time_ratio("cyclic").low < compared.time_ratio("cyclic").value - 0.01


def test_prediction_that_ranks_as_measured_is_said_to():
    found = comparison(HOSTS).agreement("comm_time_s")

    # Three methods in the same order: tau 1, and one of 3! = 6 orders on either side, p = 1/3.
    assert found.kendall == pytest.approx((1, 1 / 3))
    assert found.sentence().startswith(
        "all bytes in turn: ranks the methods as measured (Kendall's"
    )


def test_prediction_the_wrong_way_round_names_the_pair():
    methods = {
        "launcher": runs(HOSTS, [0, 1], [6.0, 6.1, 5.9], 1.0),
        "scotch": runs(HOSTS, [1, 0], [3.0, 3.1, 2.9], 2.0),
    }

    found = comparison(HOSTS, 2, methods=methods).agreement("bottleneck_s")

    assert found.inversions == (("scotch", "launcher"),)
    assert "scotch is faster than launcher" in found.sentence()


def test_tie_within_the_noise_is_no_inversion():
    noise = np.array([0.9, 1.0, 1.1, 0.95])
    methods = {
        "launcher": runs(HOSTS, [0, 1], 6 * noise, 1.0),
        "scotch": runs(HOSTS, [1, 0], 5.99 * noise[::-1], 2.0),
    }

    found = comparison(HOSTS, 2, methods=methods).agreement("comm_time_s")

    assert found.inversions == ()
    assert found.sentence().endswith("all methods tie within the noise, so none can be ranked.")


def test_ties_among_clear_differences_are_named():
    noise = np.array([0.9, 1.0, 1.1, 0.95])
    methods = {
        "launcher": runs(HOSTS, [0, 1], 6 * noise, 1.0),
        "cyclic": runs(HOSTS, [1, 1], 12 * noise, 3.0),
        "scotch": runs(HOSTS, [1, 0], 5.99 * noise[::-1], 2.0),
    }

    sentence = comparison(HOSTS, 2, methods=methods).agreement("comm_time_s").sentence()

    assert "agrees with every measured difference beyond the noise" in sentence
    assert sentence.endswith("Ties within the noise: scotch and launcher.")


def test_single_runs_cannot_be_distinguished():
    methods = {
        "launcher": runs(HOSTS, [0, 1], [6.0], 1.0),
        "scotch": runs(HOSTS, [1, 0], [3.0], 2.0),
    }

    assert comparison(HOSTS, 2, methods=methods).is_tie("launcher", "scotch")


def test_placement_carries_the_name_of_its_method():
    placement = comparison(HOSTS).placement("scotch")

    assert placement.method == "scotch"
    assert placement.host_of_rank.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]


def test_time_without_zone_is_refused():
    with pytest.raises(pydantic.ValidationError, match="timezone"):
        comparison(HOSTS, when="2024-01-31T12:00:00")
