"""`python -m memopt`: the command line, wherever another package owns the word ``memopt``."""

from importlib import import_module

if __name__ == "__main__":
    import_module("memopt_cli.main").run()
