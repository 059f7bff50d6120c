"""`python -m matins.cli`."""

import sys

try:
    from matins.cli.main import main
except KeyboardInterrupt:
    sys.exit(130)

main()
