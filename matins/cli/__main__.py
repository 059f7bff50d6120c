"""`python -m matins.cli`."""

from matins.cli.main import main

main()
