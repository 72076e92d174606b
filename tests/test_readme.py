"""What the README prints must run."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_python_examples_run_and_print_what_they_say(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
        printed = capsys.readouterr().out
        told = re.findall(r"^# (optimal .*)$|^print\(.*\)  # (.*)$", block, re.MULTILINE)
        for line in filter(None, (one or other for one, other in told)):
            assert line in printed
