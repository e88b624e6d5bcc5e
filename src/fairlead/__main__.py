# SPDX-License-Identifier: Apache-2.0
"""`python -m fairlead`: the command line without its script."""

from fairlead.cli import main

main()
