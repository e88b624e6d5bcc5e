#!/bin/sh
# The package's Python packages are its own, so that they do not get into other programs.
exec python3 -c 'import sys; sys.path.insert(0, "/opt/fairlead"); sys.argv[0] = "fairlead"; from fairlead.cli import main; main()' "$@"
