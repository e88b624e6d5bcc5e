# SPDX-License-Identifier: Apache-2.0
"""An MPI's own tuning files: which of its algorithms it takes for which calls."""

from fairlead.act.tuning_files.catalogue import TUNING_FILES
from fairlead.act.tuning_files.tuning_file import NativeRule, TuningFile

__all__ = ["TUNING_FILES", "NativeRule", "TuningFile"]
