# SPDX-License-Identifier: Apache-2.0
"""The folders of the package depend on one another in one direction only."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fairlead

PACKAGE = Path(fairlead.__file__).parent
TESTS = Path(__file__).parents[1]

ORDER = (
    "files",
    "model",
    "act",
    "lab",
    "measure",
    "simulation",
    "decide",
    "watch",
    "flows",
    "report",
    "cli",
)
"""Each folder imports from itself and from those before it. A network saves itself, so files come
before the model; a probe is a program that is started, so acting comes before measuring."""

MOST_ROOT_MODULES = 8


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Lines and modules of what a file imports from the package, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}:{node.lineno}: a relative import"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def folder_of(module: str) -> str:
    """The folder of a module of the package, empty for what stands at the root."""
    name = module.split(".")[1]
    return name if (PACKAGE / name).is_dir() else ""


def test_folders_import_from_those_before_them() -> None:
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        inner = file.relative_to(PACKAGE)
        if inner.name in ("__init__.py", "__main__.py") and inner.parent == Path():
            continue  # the face of the package and its start may import all
        own = inner.parts[0] if len(inner.parts) > 1 else ""
        allowed = {"", *ORDER[: ORDER.index(own) + 1]} if own else {""}
        wrong += [
            f"{inner}:{line}: imports {module}, which stands above {own or 'the folders'}"
            for line, module in imports(file)
            if module.startswith("fairlead.") and folder_of(module) not in allowed
        ]
    assert not wrong, "\n".join(wrong)


def test_every_folder_with_modules_has_its_place_in_the_order() -> None:
    folders = {file.relative_to(PACKAGE).parts[0] for file in PACKAGE.glob("*/*.py")}

    assert folders == set(ORDER)


def test_few_modules_stand_at_the_root() -> None:
    modules = sorted(file.name for file in PACKAGE.glob("*.py*"))

    assert len(modules) <= MOST_ROOT_MODULES, modules


def test_no_two_files_of_tests_share_a_name() -> None:
    """Folders of tests are no packages: pytest collects one of two files of a name."""
    names = Counter(file.name for file in TESTS.rglob("*.py") if file.name != "conftest.py")

    assert [name for name, count in names.items() if count > 1] == []


def test_one_header_asks_the_kernel_for_the_host_name() -> None:
    root = TESTS.parent
    files = [
        str(file.relative_to(root))
        for folder in ("core", "mpi", "preload", "relay", "tcp_probe")
        for file in sorted((root / folder).rglob("*.[ch]pp"))
        if re.search(r"\b(uname|gethostname)\(", file.read_text(encoding="utf-8"))
    ]

    assert files == ["core/include/fairlead/node_name.hpp"]
