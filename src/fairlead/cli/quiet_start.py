# SPDX-License-Identifier: Apache-2.0
"""Imported before all else by the command line: Ctrl-C during imports prints no traceback."""

from fairlead.user_signals import end_quietly

end_quietly()
