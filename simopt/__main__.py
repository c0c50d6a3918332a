"""`python -m simopt` is the command `simopt`."""

from simopt.cli.main import main

main()
