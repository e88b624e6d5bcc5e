# SPDX-License-Identifier: Apache-2.0
"""Large files of every form of topology: read or refused in a line, within bounded memory."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

MIB = 2**20
MOST_OF_PROCESS_BYTES = 2**31
"""Address space that the process may have; its libraries take most of it."""

# The peak is that of this program alone: ru_maxrss may be that of the process that started it.
PROGRAM = """
import json, resource, sys
from pathlib import Path

most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
from fairlead.errors import Error
from fairlead.measure.topologies.catalogue import Given, import_topology


def peak_bytes():
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition("VmHWM:")[2].split()[0])


before = peak_bytes()
try:
    found = import_topology(sys.argv[2], Given(Path(sys.argv[3])))
    said = f"{found.num_hosts} hosts"
except Error as error:
    said = str(error)
print(json.dumps({"said": said, "peak_bytes": peak_bytes() - before}))
"""


class Large(NamedTuple):
    """A large file.

    Attributes:
        kind: Form of topology.
        begin, pieces, end: What it holds; there is no last piece.
        size_bytes: Its size.
        said: What is said of it, or how many hosts it has.
        most_bytes: What reading it takes at most.
    """

    kind: str
    begin: str
    pieces: Callable[[], Iterator[str]]
    end: str
    size_bytes: int
    said: str
    most_bytes: int


def headings() -> Iterator[str]:
    return itertools.repeat("# nothing that is read\nwarning: what is this\n" * 1000)


def fabric() -> Iterator[str]:
    for leaf in itertools.count(1):
        adapters = range(leaf * 64, leaf * 64 + 40)
        yield f'Switch\t41 "S-{leaf:016x}"\t# "leaf{leaf}" port 0 lid {leaf} lmc 0\n'
        for port, adapter in enumerate(adapters, 1):
            yield f'[{port}]\t"H-{adapter:016x}"[1]\t# "n{adapter}" lid 9 4xHDR\n'
        for port, adapter in enumerate(adapters, 1):
            yield f'Ca\t1 "H-{adapter:016x}"\t# "n{adapter} mlx5_0"\n'
            yield f'[1]\t"S-{leaf:016x}"[{port}]\t# lid 9 lmc 0 "leaf{leaf}" lid 1 4xHDR\n'


def rows_of_nodes() -> Iterator[str]:
    return (f'"n{node} mlx5_0",1,{node:#x},{node:#x}\n' for node in itertools.count(1))


def switches() -> Iterator[str]:
    return (f"SwitchName=s{i} Nodes=n[{20 * i}-{20 * i + 19}]\n" for i in itertools.count())


def one_line() -> Iterator[str]:
    return itertools.repeat("Nodes=n[1-2]," * 1000)


def yaml_switches() -> Iterator[str]:
    return (f"  - switch: s{i}\n    nodes: n{i}\n" for i in itertools.count())


def kubernetes_nodes() -> Iterator[str]:
    images = [{"names": [f"registry/image-{each}@sha256:{'0' * 64}"]} for each in range(50)]
    for index in itertools.count():
        labels = {"network.topology.nvidia.com/leaf": f"leaf{index // 16}"}
        node = {"kind": "Node", "metadata": {"name": f"n{index}", "labels": labels}}
        yield ("," if index else "") + json.dumps({**node, "status": {"images": images}})


def lldp_systems() -> Iterator[str]:
    for index in itertools.count():
        chassis = {f"leaf{index // 40}": {"descr": "a description of the system " * 40}}
        port = {"id": {"type": "ifname", "value": f"swp{index % 40}"}}
        lldp = {"interface": {"eth0": {"chassis": chassis, "port": port}}}
        yield f'{"," if index else ""}"n{index}": {json.dumps({"lldp": lldp})}'


def metadata_of_hosts() -> Iterator[str]:
    for index in itertools.count():
        place = {"customerHPCIslandId": "a", "customerNetworkBlock": f"b{index // 64}"}
        document = {"rdmaTopologyData": place, "further": "x" * 2000}
        yield f'{"," if index else ""}"n{index}": {json.dumps(document)}'


def gemini_tiles() -> Iterator[str]:
    for x in itertools.cycle(range(16)):
        near, far = (f"c{at}-0c0s0g0l{{tile}}[({at},0,0)]" for at in (x, (x + 1) % 16))
        for tile in ("00", "01", "02", "03"):
            ends = near.format(tile=tile), far.format(tile=tile)
            yield f"{ends[0]} X+ -> {ends[1]} LinkType: cable\n"


LARGE = {
    "headings": Large("infiniband", "", headings, "", 16 * MIB, "holds no cable", 8 * MIB),
    "fabric": Large(
        "infiniband", "", fabric, "", 100 * MIB, "more than 65536 nodes, which no", 96 * MIB
    ),
    "tables": Large(
        *("ibdiagnet", "START_NODES\nNodeDesc,NodeType,SystemImageGUID,NodeGUID\n"),
        *(rows_of_nodes, "", 100 * MIB, "more than 65536 nodes, which no subnet", 64 * MIB),
    ),
    "switches": Large(
        "slurm", "", switches, "", 100 * MIB, ":131073: is after more than 131072", 96 * MIB
    ),
    "line": Large("slurm", "", one_line, "", 100 * MIB, ":1: is longer than 1048576 b", 16 * MIB),
    "yaml": Large(
        *("slurm", "- topology: t\n  tree:\n   switches:\n", yaml_switches, ""),
        *(100 * MIB, "is YAML of more than 4194304 letters", 64 * MIB),
    ),
    "nodes": Large(
        *("kubernetes", '{"kind": "List", "items": [', kubernetes_nodes, "]}"),
        *(32 * MIB, "hosts", 64 * MIB),
    ),
    "systems": Large("lldp", "{", lldp_systems, "}", 24 * MIB, "hosts", 192 * MIB),
    "metadata": Large("oci", "{", metadata_of_hosts, "}", 32 * MIB, "hosts", 64 * MIB),
    "tiles": Large("gemini", "", gemini_tiles, "", 8 * MIB, "32 hosts", 8 * MIB),
}


def write_large(path: Path, large: Large) -> None:
    with path.open("w") as stream:
        stream.write(large.begin)
        size = 0
        for piece in large.pieces():
            stream.write(piece)
            size += len(piece)
            if size >= large.size_bytes:
                break
        stream.write(large.end)


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    large = LARGE[name]
    path = tmp_path / "large"
    write_large(path, large)

    done = subprocess.run(
        [
            *(sys.executable, "-c", PROGRAM, str(MOST_OF_PROCESS_BYTES)),
            *(large.kind, str(path)),
        ],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    found = json.loads(done.stdout)
    assert re.search(re.escape(large.said), found["said"]), found
    assert "\n" not in found["said"]
    assert found["peak_bytes"] < large.most_bytes, found
