# SPDX-License-Identifier: Apache-2.0
"""Hostfiles: every launcher's form is read, everything else is named by file and line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.act.launch import parse_hostfile, read_hostfile
from fairlead.act.launch.host_names import host_name_problem, is_local_host
from fairlead.errors import InputError
from fairlead.model.cluster import GivenHosts, Login

GOLDEN = Path(__file__).parents[3] / "golden" / "launchers"

host_names = st.from_regex(r"[a-z][a-z0-9-]{0,10}[a-z0-9](\.[a-z0-9]{1,5})?", fullmatch=True)
hosts_with_slots = st.dictionaries(host_names, st.integers(1, 500), min_size=1, max_size=20)


@given(hosts_with_slots)
def test_open_mpi_form_is_read_in_order(slots_of_host: dict[str, int]) -> None:
    text = "".join(f"{host}  slots={n} max_slots={n + 1}\n" for host, n in slots_of_host.items())

    cluster = parse_hostfile(text, "hosts")

    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == slots_of_host
    assert cluster.hosts == tuple(slots_of_host)


@given(hosts_with_slots)
def test_mpich_form_is_read_in_order(slots_of_host: dict[str, int]) -> None:
    text = "".join(f"{host}:{n}\n" for host, n in slots_of_host.items())

    cluster = parse_hostfile(text, "hosts")

    assert list(zip(cluster.hosts, cluster.slots, strict=True)) == [*slots_of_host.items()]


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1))
def test_each_bare_name_adds_a_slot(names: list[str]) -> None:
    cluster = parse_hostfile("\n".join(names), "hosts")

    assert dict(zip(cluster.hosts, cluster.slots, strict=True)) == {
        name: names.count(name) for name in names
    }


@pytest.mark.parametrize(
    ("text", "slots", "family"),
    [("a slots=2\na\nb slots=1\na", 4, "openmpi"), ("a:2\na\nb\na:3", 6, "mpich")],
)
def test_a_bare_name_adds_a_slot_to_a_number(
    tmp_path: Path, text: str, slots: int, family: str
) -> None:
    (tmp_path / "hosts").write_text(text)

    cluster = read_hostfile(tmp_path / "hosts")

    assert (cluster.hosts, cluster.slots) == (("a", "b"), (slots, 1))
    assert "a" not in cluster.bare_hosts
    assert cluster.given == GivenHosts(tmp_path / "hosts", family)


@given(st.text(max_size=60))
def test_any_text_is_a_cluster_or_one_error_that_names_the_file(text: str) -> None:
    try:
        cluster = parse_hostfile(text, "hosts.txt")
    except InputError as error:
        assert str(error).startswith("hosts.txt:")
        assert "\n" not in str(error)
    else:
        assert all(host_name_problem(host) is None for host in cluster.hosts)


@pytest.mark.parametrize(
    ("file", "hosts", "slots"),
    [
        (
            "mpi_operator_hostfile.txt",
            ("job-worker-0.job.default.svc", "job-worker-1.job.default.svc"),
            (2, 2),
        ),
        ("mpich_hostfile.txt", ("node002", "node001"), (2, 2)),
        ("slurm_hostfile_or_ompi_seq.txt", ("node002", "node001"), (2, 2)),
    ],
)
def test_samples_of_the_launchers_are_read(
    file: str, hosts: tuple[str, ...], slots: tuple[int, ...]
) -> None:
    cluster = read_hostfile(GOLDEN / file)

    assert (cluster.hosts, cluster.slots) == (hosts, slots)


def test_comments_blank_lines_tabs_and_windows_line_ends_are_no_hosts() -> None:
    text = "# rack 1\n\nn1\tslots = 4 # four\r\n  \n  n2 max-slots=3\n"

    cluster = parse_hostfile(text, "hosts")

    assert (cluster.hosts, cluster.slots) == (("n1", "n2"), (4, 1))


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("n1 count=4\n", (4,)),
        ("n1 cpu=4\n", (4,)),
        ("n1 slots=2 max_slots=4\nn2 slots=2 slots_max=4\n", (2, 2)),
        ("// head\nn1 slots=2\n/* x\n y */\n", (2,)),
        ("n1:4 user=bob\nn2:4\n", (4, 4)),
    ],
)
def test_forms_that_the_launchers_take_are_taken(text: str, slots: tuple[int, ...]) -> None:
    cluster = parse_hostfile(text, "hosts")

    assert (cluster.slots, cluster.bare_hosts) == (slots, frozenset())


@pytest.mark.parametrize("text", ["n1\n", "n1 max_slots=4\n"])
def test_slots_that_are_not_given_are_the_launchers_to_choose(text: str) -> None:
    assert parse_hostfile(text, "hosts").bare_hosts == {"n1"}


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("ubuntu@10.0.0.1 slots=4", Login("ubuntu")),
        ("10.0.0.1 slots=4 username=ubuntu", Login("ubuntu")),
        ("10.0.0.1 slots=4 port=2222", Login(None, 2222)),
        ("10.0.0.1:4 user=ubuntu", Login("ubuntu")),
    ],
)
def test_users_and_ports_are_kept_for_the_launcher(text: str, login: Login) -> None:
    cluster = parse_hostfile(text, "hosts")

    assert (cluster.hosts, cluster.slots, cluster.logins) == (
        ("10.0.0.1",),
        (4,),
        {"10.0.0.1": login},
    )


@pytest.mark.parametrize("text", ["a:2 binding=user:0,1\n", "a:2 binding=user:0,1 user=bob\n"])
def test_bindings_of_hydra_are_kept_for_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(text)

    cluster = read_hostfile(tmp_path / "hosts")

    assert (cluster.slots, cluster.bindings) == ((2,), {"a": "user:0,1"})
    assert cluster.given == GivenHosts(tmp_path / "hosts", "mpich")
    assert cluster.select(["a"]).bindings == {"a": "user:0,1"}


@pytest.mark.parametrize(
    ("text", "family"), [("a slots=2\n", "openmpi"), ("a:2\n", "mpich"), ("a\n", None)]
)
def test_a_file_is_passed_on_to_the_launchers_that_read_its_form(
    text: str, family: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)

    assert read_hostfile(file).given == GivenHosts(file, family)


# Open MPI 4.1.4 and 5.0.11: "parse error in the hostfile"; Hydra 4.0.2: "token // not supported".
@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("a slots=2\r\nb slots=2\r\n", None),
        ('a slots="2"\n', None),
        ("a slots=2 user=bob\n", None),
        ("a slots=2 user_name=bob\n", "openmpi"),
        ("a:2 user=bob\n", "mpich"),
        ("a:2 // c\n", None),
        ("a:2 /* c */\n", None),
        ("a // c\n", "openmpi"),
        ("a\r\nb\r\n", "mpich"),
        ("a:2\r\nb:2\r\n", "mpich"),
        ("a // c\r\n", None),
        ("a:2\nb slots=2\n", None),
    ],
)
def test_a_file_that_a_launcher_would_refuse_is_written_anew(
    text: str, family: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "hosts"
    file.write_text(text, newline="")

    expected = None if family is None else GivenHosts(file, family)
    assert read_hostfile(file).given == expected


def test_what_can_be_read_only_once_is_not_passed_on() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a slots=2\n")
    os.close(writer)

    cluster = read_hostfile(f"/dev/fd/{reader}")

    os.close(reader)
    assert (cluster.hosts, cluster.given) == (("a",), None)


def test_host_of_no_slots_is_none_of_the_hosts(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("head slots=0\nn1 slots=2\nn2\n")

    cluster = read_hostfile(file)

    assert (cluster.hosts, cluster.slots, cluster.bare_hosts) == (("n1", "n2"), (2, 1), {"n2"})
    # Open MPI, which takes such a line, reads the file itself.
    assert cluster.given == GivenHosts(file, "openmpi")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a slots=2 port=0", "hosts:1: port must be a whole number from 1 to 65535, got '0'"),
        ("a slots=2 username=-x", "hosts:1: user name '-x' is not usable"),
        ("/* one\n*/ a slots=-1", "hosts:2: slots must be"),
        ("a slots=-1", "hosts:1: slots must be a whole number from 0 to 1000000, got '-1'"),
        ("a slots=0\nb slots=0", "hosts: no host of it has a slot"),
        ("a\nb slots=-1", "hosts:2: slots must be a whole number"),
        ("a slots=two", "hosts:1: slots must be a whole number"),
        ("a slots=99999999999", "hosts:1: slots must be a whole number"),
        ("a:", "hosts:1: slots must be a whole number from 1 to 1000000, got ''"),
        ("a:0", "hosts:1: slots must be"),
        ("a slots=2 slots=3", "hosts:1: slots= is given twice"),
        ("a slots=4 max_slots=2", "slots=4 is more than max_slots=2"),
        ("a slots=2\n\na slots=2", "hosts:3: host 'a' is named again"),
        ("a\na slots=2", "hosts:2: host 'a' is named again"),
        ("a slots=2\na:2", "hosts:2: host 'a' is named again"),
        ("a slots=2 binding=core", "hosts:1: unknown form"),
        ("a cores=2", "hosts:1: unknown form 'a cores=2'; expected 'HOST', 'HOST slots=N'"),
        ("a b", "hosts:1: unknown form"),
        ("a:2 slots=2", "hosts:1: unknown form"),
        ("-oProxyCommand=x slots=1", "hosts:1: host name '-oProxyCommand=x' is not usable"),
        ("$(reboot) slots=1", "hosts:1: host name '$(reboot)' is not usable"),
        ("a;b", "hosts:1: host name 'a;b' is not usable"),
        ("knoten-ä", "hosts:1: host name 'knoten-ä' is not usable"),
        ("a:2:4", "hosts:1: host name 'a:2:4' is not usable: ':' belongs to addresses of IPv6"),
        ("a" * 300, "host name of 300 characters; at most 255"),
        ("# nothing\n\n", "hosts: the hostfile names no host"),
        ("", "hosts: the hostfile names no host"),
        ("a\0b", "hosts: not a hostfile: not a text file"),
    ],
)
def test_bad_line_is_named_with_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_hostfile(text, "hosts")

    assert message in str(caught.value)


def test_file_that_is_missing_binary_or_a_folder_is_named(tmp_path: Path) -> None:
    latin = tmp_path / "latin"
    latin.write_bytes("bär slots=2\n".encode("latin-1"))

    for path, message in (
        (tmp_path / "none", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (latin, "not UTF-8 text"),
        (Path("/bin/true"), "not a hostfile"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            read_hostfile(path)
        assert str(path) in str(caught.value)


def test_this_machine_is_known_by_name_and_by_any_of_its_addresses() -> None:
    assert is_local_host("localhost")
    assert is_local_host("127.0.0.1")
    assert is_local_host("127.3.2.1")
    assert not is_local_host("192.0.2.254")
    assert not is_local_host("host.invalid")


@pytest.mark.parametrize("source", ["sparse", "/dev/zero"])
def test_hostfile_without_an_end_is_refused_before_it_is_all_read(
    source: str, tmp_path: Path
) -> None:
    path = Path(source)
    if source == "sparse":
        path = tmp_path / "hosts"
        with path.open("wb") as stream:
            stream.truncate(10**8)

    with pytest.raises(InputError, match="not a hostfile: is larger than 16777216 bytes"):
        read_hostfile(path)
