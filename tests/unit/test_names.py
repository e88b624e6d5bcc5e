# SPDX-License-Identifier: Apache-2.0
"""Names of functions: those that act have a verb, and participles are rare."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "fairlead"
MOST_PARTICIPLES = 0.02
"""Part of all functions; a participle is for a value that costs nothing."""

OTHER_WORDS = {"feed", "need", "nothing", "ping", "ring", "speed"}
"""Words that end like participles."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield path.relative_to(PACKAGE), node


def is_participle(function: Function) -> bool:
    word = function.name.strip("_").split("_")[0]
    return word.endswith(("ed", "ing")) and word not in OTHER_WORDS


def decorators(function: Function) -> str:
    return " ".join(map(ast.unparse, function.decorator_list))


def test_few_functions_are_named_by_participles() -> None:
    every = [function for _, function in functions()]
    participles = sorted(
        function.name
        for function in every
        if is_participle(function) and "property" not in decorators(function)
    )

    assert len(participles) <= MOST_PARTICIPLES * len(every), participles


def test_functions_without_a_value_and_context_managers_have_a_verb() -> None:
    acting = [
        f"{path}: {function.name}"
        for path, function in functions()
        if is_participle(function)
        and (
            "contextmanager" in decorators(function)
            or (function.returns is not None and ast.unparse(function.returns) == "None")
        )
    ]

    assert acting == []
