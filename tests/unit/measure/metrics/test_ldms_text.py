# SPDX-License-Identifier: Apache-2.0
"""What ldms_ls prints is read in each of its forms."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from fairlead.errors import Error
from fairlead.measure.metrics import Quantity, open_source
from fairlead.measure.metrics.ldms import parse, series_of
from fairlead.measure.metrics.ldms_source import LdmsCommandSource

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"
GEMINI = (GOLDEN / "cray" / "ldms_ls-l-gemini-v2-style.txt").read_text()


def values(text: str) -> dict[tuple[str, bool, Quantity], float]:
    return {series.key: float(series.values[-1]) for series in series_of(parse(text, "text"))}


def test_gemini_of_version_2_tells_its_directions() -> None:
    assert values(GEMINI) == {
        ("1,0,6 X-", True, Quantity.carried_bytes): 5443101840963.0,
        ("1,0,6 X-", True, Quantity.stalled_s): pytest.approx(1937.719501518),
        ("1,0,6 X-", True, Quantity.used_ratio): pytest.approx(0.13),
        ("1,0,6 X-", True, Quantity.stalled_ratio): pytest.approx(0.68),
    }


def test_gemini_of_version_4_tells_the_same() -> None:
    header, *metrics = GEMINI.splitlines()
    lines = [header]
    for metric in metrics:
        _, value, rest = metric.split(None, 2)
        name, _, unit = rest.partition(" ")
        lines.append(f"D u64          {name:<42} {value} {unit.strip('()')} ")

    assert values("\n".join(lines)) == values(GEMINI)


def test_share_is_read_by_its_unit() -> None:
    plain = GEMINI.replace("68000000 ", "68 ")
    plain = plain.replace("CREDIT_STALL (% x1e6)", "CREDIT_STALL (%)")

    assert values(plain)["1,0,6 X-", True, Quantity.stalled_ratio] == pytest.approx(0.68)


@pytest.mark.parametrize(
    "name", ["ldms/ldms_ls-l.txt", "ldms/ldms_ls-l-f-json.txt", "ldms/python_Set_json.json"]
)
def test_interfaces_of_hosts_are_told_without_the_one_to_itself(name: str) -> None:
    found = values((GOLDEN / name).read_text())

    assert 454587556 <= found["host node001", True, Quantity.carried_bytes] <= 454695569
    assert found["host node001", False, Quantity.carried_bytes] < 600000


def test_inconsistent_set_is_left_out() -> None:
    assert values(GEMINI.replace(": consistent", ": inconsistent")) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("what is this\n", "x:1: expected a set of ldms_ls -l, got 'what is this'"),
        (GEMINI + "U64 12\n", "x:10: is no metric: 'U64 12'"),
        ('{"set_data" : [', "x: is not JSON, or not all of it"),
        ('{"set_data" : [{"inst_name": "a"}]}', "x: is not the JSON of LDMS: KeyError"),
    ],
)
def test_what_is_not_of_ldms_is_named(text: str, problem: str) -> None:
    with pytest.raises(Error, match=problem):
        parse(text, "x")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("ldms_ls.txt", "x:1: expected a set of ldms_ls -l, got 'node001/procnet/eth0'"),
        ("ldms_ls-v.txt", "x:1: expected a set of ldms_ls -l, got 'Schema "),
        ("ldms_ls-l-f-tab.txt", "x:1: expected a set of ldms_ls -l, got '#instance"),
        ("ldms_ls-v-f-json.txt", "x: is not JSON, or not all of it"),
    ],
)
def test_other_options_of_ldms_ls_are_named(name: str, problem: str) -> None:
    with pytest.raises(Error, match=problem):
        parse((GOLDEN / "ldms" / name).read_text(), "x")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["sh", "-c", "echo no set >&2; exit 3"], "ldmsd:h:1: ended with 3: no set"),
        (["no-ldms"], "ldmsd:h:1: no-ldms: No such file"),
    ],
)
def test_command_that_fails_is_named(command: list[str], problem: str) -> None:
    with pytest.raises(Error, match=problem):
        LdmsCommandSource("ldmsd:h:1", command).read(0, 1)


class Xprt:
    """LDMS' Python module as far as it is used, with the set that was recorded from it."""

    def __init__(self, transport: str):
        assert transport == "sock"

    def connect(self, host: str, port: int) -> None:
        if port != 411:
            raise RuntimeError("connection refused")

    def dir(self) -> list[types.SimpleNamespace]:
        return [types.SimpleNamespace(name="node001/procnetdev2")]

    def lookup(self, name: str) -> types.SimpleNamespace:
        text = (GOLDEN / "ldms" / "python_Set_json.json").read_text().strip()
        return types.SimpleNamespace(update=lambda: None, json=lambda: text)

    def close(self) -> None:
        pass


@pytest.fixture
def module(monkeypatch) -> None:
    ldms = types.SimpleNamespace(init=lambda size: None, Xprt=Xprt)
    monkeypatch.setitem(sys.modules, "ovis_ldms", types.SimpleNamespace(ldms=ldms))
    monkeypatch.setitem(sys.modules, "ovis_ldms.ldms", ldms)


@pytest.mark.usefixtures("module")
def test_module_of_ldms_gives_its_sets() -> None:
    received, sent = open_source("ldms-python:host:411").read(0, 60)

    assert (received.port, received.values[0]) == ("host node001", 454695569)
    assert (sent.is_into, sent.values[0]) == (False, 513484)


@pytest.mark.usefixtures("module")
def test_daemon_that_refuses_the_module_is_named() -> None:
    with pytest.raises(Error, match="ldms-python:host:1: connection refused"):
        open_source("ldms-python:host:1").read(0, 60)


def test_missing_module_of_ldms_is_named() -> None:
    with pytest.raises(Error, match="ldms-python:host:411: needs LDMS' Python module"):
        open_source("ldms-python:host:411")
