# SPDX-License-Identifier: Apache-2.0
"""`fairlead export`: groups of near hosts in the forms that schedulers read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairlead.act.topology_formats import TOPOLOGY_FORMATS
from fairlead.cli import option_kinds
from fairlead.cli.help import OUTPUT, list_names
from fairlead.cli.output import JsonOption, print_json, require_folder, warn
from fairlead.cli.parsers import one_of, usage
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.measure.host_groups import measured_groups
from fairlead.model.host_groups import groups_of_topology
from fairlead.model.network import Network
from fairlead.model.topology import Topology
from fairlead.report.files import load_any

EXAMPLE = "Example: fairlead export cloud.net.npz --format slurm-topology -o topology.conf"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("export", epilog=EXAMPLE)(export)


def export(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="NET|TOPO",
            help="A measured network, for the groups that it shows, or a topology as fairlead "
            "import writes it.",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            parser=usage(one_of(TOPOLOGY_FORMATS)),
            metavar="NAME",
            rich_help_panel=OUTPUT,
            help=f"One of{list_names(TOPOLOGY_FORMATS)}",
        ),
    ] = "json",
    output: Annotated[
        Path | None, option_kinds.output("Where it goes; without it to standard output.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write groups of near hosts as a file for Slurm, Kubernetes or Graphviz, or as JSON."""
    if output is not None:
        require_folder(output)
    content = load_any(file)
    if isinstance(content, Topology):
        groups = groups_of_topology(content)
    elif isinstance(content, Network):
        groups = measured_groups(content)
    else:
        raise InputError(f"{file}: only a network or a topology has groups of hosts")
    for problem in groups.problems:
        warn(f"{file}: {problem}")
    text = TOPOLOGY_FORMATS[form].text(groups)
    if output is not None:
        write_text(output, text)
    if as_json:
        facts = {"format": form, "output": output, "levels": groups.levels()}
        print_json(facts | {"problems": list(groups.problems), "text": text})
    elif output is None:
        typer.echo(text, nl=False)
