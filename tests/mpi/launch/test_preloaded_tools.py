# SPDX-License-Identifier: Apache-2.0
"""A library that the user preloads is loaded with ours, whichever way the launcher exports it."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest
from tracing import TracedMpi

from fairlead.act.launch import detect
from fairlead.measure.trace import trace

TOOL = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char* program_invocation_short_name;
__attribute__((constructor)) static void loaded(void) {
  char name[512];
  if (strncmp(program_invocation_short_name, "corners", 7) != 0) return;
  snprintf(name, sizeof name, "%s/%d", getenv("TOOL_FOLDER"), getpid());
  fclose(fopen(name, "w"));
}
"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tool")
    (folder / "tool.c").write_text(TOOL)
    library = folder / "tool.so"
    command = ["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", folder / "tool.c", "-o", library]
    subprocess.run(command, check=True)
    return library


def forms_of(mpi: TracedMpi, library: Path) -> list[tuple[str, ...]]:
    if "mpich" in mpi.mpirun:
        return [("-genv", "LD_PRELOAD", str(library))]
    listed = ("--mca", "mca_base_env_list", f"LD_PRELOAD={library}")
    return [("-x", f"LD_PRELOAD={library}"), listed]


def test_a_preloaded_tool_sees_each_rank_and_the_trace_is_whole(
    mpi: TracedMpi, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_FOLDER", str(tmp_path))
    spec = mpi.spec(2, mpi.build("corners.c"), "derived_type")
    for number, form in enumerate(forms_of(mpi, tool)):
        with_tool = dataclasses.replace(spec, launcher_args=(*spec.launcher_args, *form))

        traffic = trace(detect(mpi.mpirun), with_tool).traffic

        assert traffic.messages.sum() > 0
        assert len([*tmp_path.iterdir()]) == 2 * (number + 1)
