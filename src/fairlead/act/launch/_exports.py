# SPDX-License-Identifier: Apache-2.0
"""Our variables among those that the user's launcher arguments export: LD_PRELOAD has one value.

A launcher takes one of two values for LD_PRELOAD, and which one differs (Open MPI 4.1.4 and MPICH
4.0.2 the user's, Open MPI 5.0.11 ours), so the libraries of both go into one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.act.launch.parameter_files import file_parameter, tune_words

_PRELOAD = "LD_PRELOAD"
_LIST = "mca_base_env_list"


def openmpi_exports(
    env: Mapping[str, str],
    arguments: Sequence[str],
    launcher: Path | None = None,
    delimiter: str = ";",
) -> list[str]:
    """Open MPI's arguments that export our variables, followed by the user's own arguments.

    Args:
        env: Our variables.
        arguments: The user's own arguments, and the files that they name after --tune.
        launcher: The program, below whose prefix the site's file of parameters is.
        delimiter: What stands between two variables of mca_base_env_list.

    Tried with spaces, quotes, ';', ',', '$', back-quotes, back-slashes, line breaks and empty
    values, on this machine and through a remote agent: by `-x`, each arrives unchanged.
    Open MPI 4 refuses `-x` where the parameter mca_base_env_list is set, in whichever way, so ours
    are added to it.
    """
    if not env:
        return list(arguments)
    rest, libraries = _without_preload_option(arguments)
    listed, rest = _without_list(rest)
    tuned = tune_words(arguments)
    libraries = libraries or _without_preload_option(tuned)[1]
    for value in (
        _without_list(tuned)[0],
        os.environ.get(f"OMPI_MCA_{_LIST}"),
        file_parameter(_LIST, launcher),
    ):
        listed = value if listed is None else listed
    if listed is None:
        ours = _with_libraries(env, libraries)
        return [*(part for item in ours.items() for part in ("-x", "=".join(item))), *rest]
    entries = [entry for entry in listed.split(delimiter) if entry]
    libraries += [_value(entry) for entry in entries if entry.partition("=")[0] == _PRELOAD]
    others = [entry for entry in entries if entry.partition("=")[0] != _PRELOAD]
    ours = _with_libraries(env, libraries)
    whole = delimiter.join([*others, *("=".join(item) for item in ours.items())])
    return ["--mca", _LIST, whole, *rest]


def hydra_exports(env: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    """Hydra's arguments that export our variables, followed by the user's own arguments."""
    if not env:
        return list(arguments)
    rest: list[str] = []
    libraries: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        is_export = word.lstrip("-") in {"genv", "env"}
        if is_export and words[:1] == [_PRELOAD] and len(words) > 1:
            libraries.append(words[1])
            del words[:2]
        elif is_export and words and words[0].startswith(f"{_PRELOAD}="):
            libraries.append(_value(words.pop(0)))
        else:
            rest.append(word)
    ours = _with_libraries(env, libraries)
    return [*(part for item in ours.items() for part in ("-genv", *item)), *rest]


def srun_exports(
    env: Mapping[str, str], arguments: Sequence[str], program: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Srun's arguments, and the program started with our variables by env(1).

    What `--export` and SLURM_EXPORT_ENV pass on or hold back stays as the user has it, and srun
    itself, which has the same environment, does not load what is preloaded.
    """
    if not env:
        return list(arguments), list(program)
    lists = [os.environ.get("SLURM_EXPORT_ENV", "")]
    for before, word in itertools.pairwise(["", *arguments]):
        if word.startswith("--export=") or before == "--export":
            lists = [word.removeprefix("--export=")]
    entries = [entry.partition("=") for listed in lists for entry in listed.split(",")]
    libraries = [value for name, is_given, value in entries if name == _PRELOAD and is_given]
    return list(arguments), _started_by_env(_with_libraries(env, libraries), program)


def flux_exports(
    env: Mapping[str, str], arguments: Sequence[str], program: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The same for `flux run`, whose rules `--env=NAME=VALUE` set variables."""
    if not env:
        return list(arguments), list(program)
    rules = [
        word.removeprefix("--env=")
        for before, word in itertools.pairwise(["", *arguments])
        if word.startswith("--env=") or before == "--env"
    ]
    libraries = [
        rule.removeprefix(f"{_PRELOAD}=") for rule in rules if rule.startswith(f"{_PRELOAD}=")
    ]
    return list(arguments), _started_by_env(_with_libraries(env, libraries), program)


def _started_by_env(variables: Mapping[str, str], program: Sequence[str]) -> list[str]:
    ours = ["=".join(item) for item in variables.items()]
    # env would take such a name for one more variable.
    shell = ["/bin/sh", "-c", 'exec "$@"', "sh"] if "=" in program[0] else []
    return ["/usr/bin/env", *ours, *shell, *program]


def _with_libraries(env: Mapping[str, str], libraries: Sequence[str]) -> dict[str, str]:
    """The variables, with the user's libraries loaded after ours."""
    if _PRELOAD not in env:
        # Nothing of ours is preloaded: the user's own value is exported as it was given.
        return {**env, **({_PRELOAD: libraries[-1]} if libraries else {})}
    loaded = env[_PRELOAD].split(":")
    more = [one for given in libraries for one in given.split(":") if one and one not in loaded]
    return {**env, _PRELOAD: ":".join([*loaded, *dict.fromkeys(more)])}


def _without_preload_option(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Open MPI's arguments without `-x LD_PRELOAD...`, and the libraries that these name."""
    rest: list[str] = []
    libraries: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word in {"-x", "--x"} and words and words[0].partition("=")[0] == _PRELOAD:
            libraries.append(_value(words.pop(0)))
        elif word.startswith((f"--x={_PRELOAD}=", f"-x{_PRELOAD}=")):  # Open MPI 5
            libraries.append(word.partition(f"{_PRELOAD}=")[2])
        else:
            rest.append(word)
    return rest, libraries


def _without_list(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The value of mca_base_env_list among arguments, and the others of them."""
    words = list(arguments)
    for at in range(len(words) - 2):
        if words[at].lstrip("-") in {"mca", "gmca"} and words[at + 1] == _LIST:
            return words[at + 2], [*words[:at], *words[at + 3 :]]
    return None, words


def _value(entry: str) -> str:
    """The value of `NAME=VALUE`, or of the variable that is exported by its name alone."""
    name, is_given, value = entry.partition("=")
    return value if is_given else os.environ.get(name, "")
