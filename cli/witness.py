"""A disagreement as files: the shrunk instance, and what every solver answered to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from memopt import Instance, Verdict, __version__, verify
from memopt.jsontext import parse
from memopt.provenance import sources_digest
from memopt.shrink import shrink

from . import files
from .inputs import VERDICT_SUFFIX
from .output import json_bytes

_LONGEST = 10.0
"""Seconds that a solver has, at most, for each smaller instance that is tried."""


def write_witness(
    text: str | bytes, place: dict[str, Any], against: Sequence[str], time_limit: float | None, folder: str
) -> tuple[str, Verdict]:
    """Shrink a disagreement and write it into a folder.

    Two files: ``witness-*.json``, an instance that every command takes, and beside it
    ``witness-*.verdict.json`` with every solver's selection, version and parameters. The name is taken
    from the content: files of that name are there already and stay.

    Returns
    -------
    tuple
        The path of the instance file, and the verdict on it. It refutes nobody if the disagreement
        does not show again; the instance is then written as it was.
    """
    instance = Instance.model_validate(parse(text))
    verdict = verify(instance, against, time_limit)
    if verdict.refuted:
        wrong, limit = set(verdict.refuted), min(time_limit or _LONGEST, _LONGEST)
        with suppress(ValueError):  # within that limit it does not show
            instance = shrink(
                instance, lambda smaller: bool(wrong & {*verify(smaller, against, limit).refuted})
            )
            verdict = verify(instance, against, limit)
    content = json_bytes(instance.model_dump(mode="json", exclude_defaults=True), indent=1)
    told = verdict.to_dict() | {"shrunk_from": place, "memopt": __version__, "sources": sources_digest()}
    for answer, said in zip(verdict.answers, told["answers"], strict=True):
        said["choices"] = verdict.choices(answer)
    named = hashlib.sha256(content + json_bytes([verdict.kind, *against])).hexdigest()[:12]
    stem = os.path.join(folder, f"witness-{named}")
    for ending, data in ((".json", content), (VERDICT_SUFFIX, json_bytes(told, indent=1))):
        with suppress(FileExistsError), files.writing(f"{stem}{ending}", force=False) as file:
            file.write(data)
    return f"{stem}.json", verdict
