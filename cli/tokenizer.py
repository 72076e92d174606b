"""The option that names a tokenizer."""

from __future__ import annotations

from typing import Annotated

import typer

from memopt.text.tokens import KNOWN

Tokenizer = Annotated[
    str,
    typer.Option("--tokenizer", metavar="NAME", help=f"One of {', '.join(KNOWN)}; bytes bound them all."),
]
