"""`python -m tucano.cli`: the command, where its script is not on the path."""

from tucano.cli.main import main

main()
