# SPDX-License-Identifier: Apache-2.0
"""All MPIs whose tuning files can be written."""

from __future__ import annotations

from fairlead.act.tuning_files.mpich import MpichSelection
from fairlead.act.tuning_files.openmpi import OpenMpiRules
from fairlead.act.tuning_files.tuning_file import TuningFile

__all__ = ["TUNING_FILES"]

TUNING_FILES: dict[str, TuningFile] = {
    known.name: known for known in (OpenMpiRules(), MpichSelection())
}
