# SPDX-License-Identifier: Apache-2.0
"""Traffic from the rank-to-rank chart of Intel's APS, in both of its documented forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.errors import InputError
from fairlead.measure.traffic_files import load_traffic
from fairlead.report.files import load_any

# After the user guide of 2022; the numbers are invented, and 1 MB has 1048576 bytes.
DIRECTED = """| Data Transfers per Rank-to-Rank Communication
|---------------------------------------------------------------------------------------------------
| Rank --> Rank           Time(sec)        Time(%)      Volume(MB)        Volume(%)        Transfers
|---------------------------------------------------------------------------------------------------
  0002 --> 0000            14.30            60.00             2.50            50.00               10
  0000 --> 0001             7.15            30.00             2.00            40.00                4
  0001 --> 0001             2.38            10.00             0.50            10.00                1
|===================================================================================================
| TOTAL                    23.83           100.00             5.00           100.00               15
| AVG                       7.94            33.33             1.67            33.33                5
"""

# After the user guide of 2020.
PAIRS = """| Data Transfers per Rank-to-Rank Communication
|------------------------------------------------------------------
| Rank <-> Rank       Volume(MB)        Volume(%)        Transfers
|------------------------------------------------------------------
  0000 <-> 0001             3.25               65                9
  0002 <-> 0002             1.75               35                2
|==================================================================
| TOTAL                        5              100               11
| AVG                    0.83333          16.6667                1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "aps.txt"
    path.write_text(text)
    return path


def test_directions_are_apart_in_the_newer_chart(tmp_path: Path) -> None:
    path = written(tmp_path, DIRECTED)

    traffic = load_traffic(path)

    assert traffic.bytes.toarray().tolist() == [[0, 2097152, 0], [0, 524288, 0], [2621440, 0, 0]]
    assert traffic.messages.toarray().tolist() == [[0, 4, 0], [0, 1, 0], [10, 0, 0]]
    assert traffic.max_message_bytes is not None
    assert traffic.max_message_bytes.toarray()[2, 0] == 262144
    assert traffic.origin["counted_by"] == "Intel APS"
    assert "directions" not in traffic.origin
    assert type(load_any(path)) is type(traffic)


def test_a_pair_of_the_older_chart_is_halved_and_the_origin_has_it(tmp_path: Path) -> None:
    traffic = load_traffic(written(tmp_path, PAIRS))

    # 3.25 MB are 3407872 bytes; of nine messages five go to the rank that is named second.
    assert traffic.bytes.toarray().tolist() == [[0, 1703936, 0], [1703936, 0, 0], [0, 0, 1835008]]
    assert traffic.messages.toarray().tolist() == [[0, 5, 0], [4, 0, 0], [0, 0, 2]]
    assert traffic.origin["directions"] == "not known: each has half of the bytes of a pair"


def test_lines_before_the_chart_are_passed_over(tmp_path: Path) -> None:
    traffic = load_traffic(written(tmp_path, "| Summary information\n\n" + DIRECTED))

    assert traffic.num_ranks == 3


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "  0001 --> 0001 ",
            "| [skipped 4 lines]\n  0001 --> 0001 ",
            ":7: 4 lines are left out; print all of them: aps-report -x -V 0 -T 0 -N 0 RESULT",
        ),
        ("Transfers\n", "Messages\n", ":3: no column Transfers; expected Volume(MB), Transfers"),
        ("0.50            10.00", "0.50", ":7: expected 5 numbers (Time(sec) Time(%)"),
        ("             2.50 ", "             -2.5 ", ":5: expected 5 numbers"),
        ("0000 --> 0001", "0000 <-> 0001", ":6: expected --> between the ranks, got <->"),
        ("  0001 --> 0001 ", "  all --> 0001 ", ":7: expected two ranks and numbers, got 'all"),
        ("  0000 --> 0001 ", "9999999 --> 0001 ", ":6: rank 9999999: at most 1000000 ranks"),
        (" 10\n", " 11\n", ": its lines have 16 transfers of 15; print all of them"),
        ("Rank --> Rank ", "Node --> Node ", ": has no heading of the chart"),
        (" 10\n", " 1e300\n", ":5: 1e+300: at most 1e+12 is possible"),
    ],
)
def test_a_chart_of_another_form_is_one_line_with_its_place(
    old: str, new: str, problem: str, tmp_path: Path
) -> None:
    assert old in DIRECTED
    path = written(tmp_path, DIRECTED.replace(old, new, 1))

    with pytest.raises(InputError) as caught:
        load_traffic(path)

    assert str(caught.value).startswith(f"{path}{problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [DIRECTED, PAIRS])
def test_a_chart_that_is_cut_off_is_refused(text: str, tmp_path: Path) -> None:
    for end in range(60, text.index("| TOTAL"), 7):
        path = written(tmp_path, text[:end])
        with pytest.raises(InputError) as caught:
            load_traffic(path)
        assert str(caught.value).startswith(str(path))
