"""The command line: parse, call memopt, print. One file a command."""
