# SPDX-License-Identifier: Apache-2.0
"""Completion for a shell: the one that is named, else the one that this was started from."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from typer._completion_shared import _get_shell_name, get_completion_script, install

__all__ = ["SHELLS", "give_completion"]

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")

_PROGRAM, _VARIABLE = "fairlead", "_FAIRLEAD_COMPLETE"


def give_completion(arguments: Sequence[str]) -> int:
    """Print or install what a shell completes by, and return the exit code.

    Args:
        arguments: The option, and the name of a shell if the user names it.
    """
    option, named = arguments[0], arguments[1:]
    shell = named[0] if named else _known_shell()
    if shell not in SHELLS:
        reason = f"{shell!r} has no completion" if shell else "no shell is known from here"
        print(
            f"fairlead: {option}: {reason}; name one: {option} {'|'.join(SHELLS)}", file=sys.stderr
        )
        return 2
    if option == "--show-completion":
        script = get_completion_script(prog_name=_PROGRAM, complete_var=_VARIABLE, shell=shell)
        print(script)
        return 0
    _, path = install(shell=shell, prog_name=_PROGRAM, complete_var=_VARIABLE)
    print(f"{shell}: completion is in {path}, and has an effect in new shells")
    return 0


def _known_shell() -> str:
    """The shell that this was started from; a script's has no completion, so else the user's."""
    found = _get_shell_name() or ""
    return found if found in SHELLS else Path(os.environ.get("SHELL", "")).name or found
