"""What the README prints must run."""

from __future__ import annotations

import json
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


def test_the_long_run_that_is_told_is_the_one_that_is_kept() -> None:
    kept = json.loads((README.parent / "benchmarks" / "results" / "verify-20000.json").read_bytes())
    counts, refused = kept["counts"], kept["groups"]["huge-weights"]["unproven"]
    assert counts["differ"] == counts["invalid"] == 0
    told = (
        f"{kept['total']:,} instances of twelve families, {counts['equal']:,} equal, "
        f"{counts['infeasible']:,} infeasible, none that differ; {counts['unproven']:,} unproven, "
        f"{refused:,} of them refused by CP-SAT's limit for huge token counts and "
        f"{counts['unproven'] - refused:,} not finished in 3 s; "
        f"{kept['timing']['instances_per_second']} instances a second."
    )
    assert told in " ".join(README.read_text(encoding="utf-8").split())
