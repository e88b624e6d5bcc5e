# SPDX-License-Identifier: Apache-2.0
"""What all tests share: no test fails because the machine is busy."""

from hypothesis import settings

settings.register_profile("fairlead", deadline=None)
settings.load_profile("fairlead")
