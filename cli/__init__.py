"""The command line: parse, call memopt, print. One file per command."""
