# SPDX-License-Identifier: Apache-2.0
"""The page of the file formats: lists what is in files that the code has just written."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np
from cells import code, plain, table

import fairlead as fl
from fairlead.files import run_directory
from fairlead.flows.compare.comparison import Comparison
from fairlead.model.host_inside import HostInside
from fairlead.model.placement import _Record as PlacementRecord
from fairlead.simulation import JobsRecord
from fairlead.watch.history import History

HEAD = """\
# File formats

Files whose names end in `.npz` are NumPy archives: `numpy.load(FILE)` opens them. Their entry
`meta` is a JSON object with the format, the kind of file and its version. The other files are JSON.
Matrices are `[src, dst]`: row sends, column receives. `fairlead show FILE` prints each of them. A
file of another version, or with a wrong field, is refused in one line.
"""
_GROUPS = {
    "group_pairs": "Pairs that share a bottleneck: number of the group, source and destination.",
    "group_capacity_Bps": "Bytes per second of each group, and the ends of its interval.",
    "group_confidence_ratio": "Confidence that the pairs of each group share one, 0 to 1.",
}
_INSIDES = {
    "inside_xml": "Topologies of all hosts as hwloc 2 exports them, one after the other, in UTF-8.",
    "inside_xml_bytes": "Length of each, in the order of meta.insides.",
}
_PLAN = """\
## Plan folder

`fairlead run` writes the folder `plan`, a file for each feature. [Plan files](plan.md) lists them
with their fields.
"""


def file_format_page() -> str:
    """The page."""
    return "\n".join(
        [
            HEAD,
            _archive("Network, `.net.npz`", _network(), fl.Network, "H hosts, P pairs in groups"),
            _archive(
                "Traffic, `.traffic.npz`",
                _traffic(),
                fl.Traffic,
                "T ranks, N pairs that communicate",
            ),
            _json("Placement, `placement.json`", PlacementRecord, fl.Placement),
            _json("Comparison, `comparison.json`", Comparison, Comparison),
            _json("History of a program, `history.json`", History, History),
            _json("Jobs placed together, `jobs.json`", JobsRecord, JobsRecord),
            _run_folder(),
            _PLAN,
        ]
    )


def _network() -> fl.Network:
    """A network of two hosts that has every array."""
    pairs = np.ones((2, 2))
    return fl.Network(
        ["h0", "h1"],
        **dict.fromkeys(("latency_s", "latency_low_s", "latency_high_s"), pairs),
        **dict.fromkeys(("bandwidth_Bps", "bandwidth_low_Bps", "bandwidth_high_Bps"), pairs),
        samples=pairs.astype(np.int64),
        nic_out_Bps=pairs[0],
        nic_in_Bps=pairs[0],
        coordinates=pairs,
        groups=[fl.BottleneckGroup(np.array([[0, 1]]), 1.0)],
        insides={"h0": HostInside("<topology/>", "0-7")},
    )


def _traffic() -> fl.Traffic:
    return fl.Traffic(bytes=np.ones((2, 2)), messages=np.ones((2, 2)))


def _archive(title: str, content: Any, documented: type, sizes: str) -> str:
    """What a file of this content holds, read back from one that the code has written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        content.save(path)
        with np.load(path) as stored:
            header = json.loads(str(stored["meta"]))
            arrays = {name: stored[name] for name in stored.files if name != "meta"}
    explained = _attributes(documented) | _GROUPS | _INSIDES
    rows = [
        (code(name), code(f"{array.dtype}, {array.ndim}-d"), _explained(name, explained))
        for name, array in arrays.items()
    ]
    facts = [
        (code(f"meta.{name}"), code(type(value).__name__), _explained(name, explained, repr(value)))
        for name, value in header.items()
    ]
    return f"## {title}\n\nWith {sizes}.\n\n{table(('entry', 'type', 'meaning'), [*rows, *facts])}"


def _explained(name: str, explained: dict[str, str], otherwise: str = "") -> str:
    """The meaning of an array; of a part of a sparse matrix, that of the matrix."""
    whole, _, part = name.partition(".")
    text = explained.get(whole, "")
    if part in ("data", "indices", "indptr"):
        return plain(f"{text} As a compressed sparse row matrix: its {part}.")
    return plain(text) or (code(otherwise) if otherwise else "")


def _json(title: str, model: Any, documented: type) -> str:
    """The fields of a JSON file, from the class that checks it."""
    schema = model.model_json_schema()
    explained = _attributes(documented)
    needed = schema.get("required", ())
    rows = [
        (
            code(name),
            code(_type(field)),
            "yes" if name in needed else "no",
            plain(explained.get(name, field.get("description", ""))),
        )
        for name, field in schema["properties"].items()
    ]
    return f"## {title}\n\n{table(('field', 'type', 'needed', 'meaning'), rows)}"


def _type(field: dict[str, Any]) -> str:
    """The type of a field, such as "list of integer"."""
    if "const" in field:
        return json.dumps(field["const"])
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if isinstance(inner := field.get("additionalProperties"), dict) and inner:
        return f"object of {_type(inner)}"
    return field.get("type", "any")


def _attributes(documented: type) -> dict[str, str]:
    """The texts below `Attributes:` in a docstring, by name."""
    text = inspect.getdoc(documented) or ""
    _, _, listed = text.partition("Attributes:\n")
    found: dict[str, str] = {}
    for entry in re.split(r"\n    (?=\w)", "\n" + listed.split("\n\n")[0]):
        names, colon, meaning = entry.partition(":")
        if colon:
            found |= dict.fromkeys(re.findall(r"\w+", names), " ".join(meaning.split()))
    return found


def _run_folder() -> str:
    """The names of the files of a run's folder, with the texts below them in the module."""
    named = _documented_names(run_directory)
    # The module documents a number, too.
    rows = [(code(name), plain(meaning)) for name, meaning in named if isinstance(name, str)]
    listed = table(("file", "what it holds"), rows)
    return f"## Run folder\n\nA file that a run does not need is not there.\n\n{listed}"


def _documented_names(module: types.ModuleType) -> list[tuple[str, str]]:
    """Names that are constants of the module, with the docstring that follows each."""
    lines = ast.parse(inspect.getsource(module)).body
    documented = [
        (getattr(module, name.targets[0].id), text.value.value)
        for name, text in itertools.pairwise(lines)
        if isinstance(name, ast.Assign)
        and isinstance(name.targets[0], ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    ]
    # Limits, such as a number of folders, are no files.
    return [(name, text) for name, text in documented if isinstance(name, str)]
