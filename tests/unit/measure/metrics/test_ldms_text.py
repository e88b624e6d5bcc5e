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
from fairlead.measure.metrics.ldms_source import WANTED, LdmsCommandSource

GOLDEN = Path(__file__).parents[3] / "golden" / "oracle"
GEMINI = (GOLDEN / "cray" / "ldms_ls-l-gemini-v2-style.txt").read_text()


def values(text: str) -> dict[tuple[str, bool, Quantity], float]:
    return {series.key: float(series.values[-1]) for series in series_of(parse(text, "text"))}


def test_gemini_of_version_2_tells_its_directions() -> None:
    assert values(GEMINI) == {
        ("1,0,6 X-", True, Quantity.carried_bytes): 5443101840963.0,
        ("1,0,6 X-", False, Quantity.stalled_s): pytest.approx(1937.719501518),
        ("1,0,6 X-", True, Quantity.used_ratio): pytest.approx(0.13),
        ("1,0,6 X-", False, Quantity.stalled_ratio): pytest.approx(0.68),
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

    assert values(plain)["1,0,6 X-", False, Quantity.stalled_ratio] == pytest.approx(0.68)


@pytest.mark.parametrize(
    "name", ["ldms/ldms_ls-l.txt", "ldms/ldms_ls-l-f-json.txt", "ldms/python_Set_json.json"]
)
def test_interfaces_of_hosts_are_listed_without_the_one_to_itself(name: str) -> None:
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


PLAIN = (GOLDEN / "ldms" / "ldms_ls-l.txt").read_text()
RECEIVED = ("host node001", True, Quantity.carried_bytes)
DETAILS = """  APPLICATION SET INFORMATION ------
            updt_hint_us : 1000000:100000
  METADATA --------
    Producer Name : node001
    Instance Name : node001/procnetdev2
      Schema Name : procnetdev2
             Size : 2264
     Metric Count : 5
               GN : 2
             User : root(0)
            Group : root(0)
      Permissions : -r--r-----
  DATA ------------
        Timestamp : Sat Nov 21 12:07:41 2026 +0000 [972us]
         Duration : [0.000042s]
       Consistent : TRUE
             Size : 49280
               GN : 985
  -----------------"""


def with_user_data(line: str) -> str:
    """A line of a metric as -u prints it."""
    kind, metric_type, name, value = line.split(None, 3)
    return f"{kind} {metric_type:<10} {name:<42} 0x1f {value}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PLAIN.replace("us] \n", "us] PUSH LAST \n"), id="-P"),
        pytest.param(PLAIN.replace("us] \n", f"us] \n{DETAILS}\n"), id="-l -v"),
        pytest.param(PLAIN.replace("list<>  ", "record[]"), id="record[]"),
        pytest.param(PLAIN.replace('"ifb0"', '"ifb 0"'), id="a name of two words"),
        pytest.param(
            "\n".join(
                with_user_data(line) if line.startswith(("M u", "D u", "D char")) else line
                for line in PLAIN.splitlines()
            ),
            id="-u",
        ),
        pytest.param(
            PLAIN.replace('"eth0" \n', '"eth0" \nD char[]       note     "two words" \n'),
            id="a value of two words",
        ),
    ],
)
def test_every_form_of_ldms_ls_tells_the_same(text: str) -> None:
    skipped: list[str] = []

    sets = parse(text, "x", skipped)

    assert text != PLAIN and skipped == []
    assert {s.key: s.values[-1] for s in series_of(sets)} == values(PLAIN)


ERROR = "    Error 6e updating metric set.\n\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ERROR + PLAIN, "x:1: Error 6e updating metric set."),
        (PLAIN + "ldms_ls: Error 12 looking up metric set.\n", "looking up metric set."),
        (PLAIN + GEMINI + "what is this", "is no metric: 'what is this' (set nid00050/"),
        ("noise before\n" + PLAIN, "x:1: expected a set of ldms_ls -l, got 'noise before'"),
    ],
)
def test_set_that_is_not_understood_costs_itself_alone(text: str, problem: str) -> None:
    skipped: list[str] = []

    sets = parse(text, "x", skipped)

    (line,) = skipped
    assert problem in line
    assert {s.key: s.values[-1] for s in series_of(sets)} == values(PLAIN)


def test_entry_of_json_that_is_not_understood_costs_itself_alone() -> None:
    text = (GOLDEN / "ldms" / "ldms_ls-l-f-json.txt").read_text()
    skipped: list[str] = []

    sets = parse(
        text.replace('"set_data" : [', '"set_data" : [{"inst_name": "bad"},'), "x", skipped
    )

    assert values(text) == {s.key: s.values[-1] for s in series_of(sets)}
    assert skipped == ["x: is not the JSON of LDMS: KeyError('metrics') (set bad)"]


def test_devices_of_a_host_are_several(tmp_path: Path) -> None:
    rows = PLAIN.replace('"ifb1" 0       ', '"ib0"  7       ')
    text = rows[rows.index("node001/procnetdev2") : rows.index("node002/procnet/eth0")]
    (tmp_path / "ldms.txt").write_text(text)

    found = open_source(f"ldms:{tmp_path}/ldms.txt").read(0, 60)

    assert {(one.device, one.host_names) for one in found} == {
        ("eth0", ("node001",)), ("ib0", ("node001",))
    }  # fmt: skip


FAKE = """#!/bin/sh
echo "$@" > {folder}/arguments
cat {folder}/printed
"""


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("", "-h h -p 411 -x sock -l -E -S " + " ".join(WANTED)),
        ("?auth=munge&sets=", "-h h -p 411 -x sock -l -a munge"),
        (
            "?auth=ovis&conf=/etc/secret&transport=rdma&sets=mine,other",
            "-h h -p 411 -x rdma -l -a ovis -A conf=/etc/secret -E -S mine other",
        ),
        ("?auth=none&sets=", "-h h -p 411 -x sock -l -a none"),
    ],
)
def test_daemon_is_asked_as_the_user_says(
    tmp_path: Path, monkeypatch, options: str, arguments: str
) -> None:
    (tmp_path / "ldms_ls").write_text(FAKE.replace("{folder}", str(tmp_path)))
    (tmp_path / "ldms_ls").chmod(0o755)
    (tmp_path / "printed").write_text(ERROR + PLAIN)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    source = open_source(f"ldmsd:h:411{options}")
    found = source.read(0, 60)

    assert (tmp_path / "arguments").read_text().strip() == arguments
    assert RECEIVED in {one.key for one in found}
    assert source.skipped == ["ldmsd:h:411:1: Error 6e updating metric set."]


@pytest.mark.usefixtures("module")
def test_module_is_given_the_authentication(monkeypatch) -> None:
    class Asked(Xprt):
        def __init__(self, transport: str, **options: object):
            assert options == {"auth": "ovis", "auth_opts": {"conf": "/s"}}

        def dir(self) -> list[types.SimpleNamespace]:
            names = ("node001/broken", "node001/procnetdev2", "node001/meminfo")
            return [types.SimpleNamespace(name=n, schema_name=n[8:]) for n in names]

        def lookup(self, name: str) -> types.SimpleNamespace:
            assert not name.endswith("meminfo")
            if name.endswith("broken"):
                raise RuntimeError("no such set")
            return super().lookup(name)

    monkeypatch.setattr(sys.modules["ovis_ldms"].ldms, "Xprt", Asked)

    source = open_source("ldms-python:h:411?auth=ovis&conf=/s&sets=procnet,broken")

    assert len(source.read(0, 60)) == 2
    assert source.skipped == ["ldms-python:h:411: set node001/broken: no such set"]
