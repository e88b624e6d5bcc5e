# SPDX-License-Identifier: Apache-2.0
"""Files: how archives and texts are written and read, and the folder of a run."""
