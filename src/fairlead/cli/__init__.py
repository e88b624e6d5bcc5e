# SPDX-License-Identifier: Apache-2.0
"""The command `fairlead`: one file per command, listed here."""

from __future__ import annotations

import sys

import typer

from fairlead.errors import Error

app = typer.Typer(
    name="fairlead",
    help="Makes MPI applications faster on networks whose topology nobody will show you.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; errors become one line on stderr and exit code 1."""
    try:
        app()
    except Error as error:
        print(f"fairlead: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        print("fairlead: interrupted", file=sys.stderr)
        sys.exit(130)
