"""Real retrieval logs beside the repository, as memories and episodes; an error where one is absent."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import DATA
from memopt.text.idf import StreamingIdf
from memopt.text.words import terms


@dataclass(frozen=True)
class Log:
    """A log: memory ids, and one ``(retrieved, success)`` an episode, in order."""

    memories: list[str]
    episodes: list[tuple[list[str], bool]]


def reflexion() -> Log:
    """Return 200 ALFWorld episodes, each with the reflections of its task (MIT; Shinn et al. 2023)."""
    folder = DATA / "reflexion_alfworld"
    episodes = _lines(folder / "episodes.jsonl")
    memories = list(json.loads((folder / "memories.json").read_bytes()))
    return Log(memories, [(episode["retrieved"], episode["success"]) for episode in episodes])


def cheatsheets() -> dict[str, Log]:
    """Return the logs of Dynamic Cheatsheet that name what was retrieved (MIT; Suzgun et al. 2025)."""
    logs = {}
    for path in sorted((DATA / "dynamic_cheatsheet").glob("*.jsonl")):
        episodes = _lines(path)
        if any(episode.get("retrieved") for episode in episodes):
            logs[path.stem] = Log(
                [str(episode["episode"]) for episode in episodes],
                [([str(name) for name in episode["retrieved"]], episode["success"]) for episode in episodes],
            )
    return logs


def airline(retrieved: int = 3) -> Log:
    """Return 200 tau-bench airline episodes with the policy rules nearest to the task (MIT; Yao et al. 2024).

    The rules are those of the policy's sections on booking, changing, cancelling and refunds, all of
    them correct; the nearest are those that share most idf mass with the task's instruction.
    """
    folder = DATA / "tau_bench"
    rules = {}
    for section in (folder / "airline_policy.md").read_text().split("\n## ")[2:]:
        title, _, body = section.partition("\n")
        for number, rule in enumerate(re.findall(r"^- (.*(?:\n  - .*)*)", body, re.MULTILINE), start=1):
            rules[f"{title} {number}"] = set(terms(rule))
    idf = StreamingIdf()
    for rule in rules.values():
        idf.observe(" ".join(rule))

    def nearest(task: str) -> list[str]:
        asked = set(terms(task))
        mass = {name: sum(idf(term) for term in sorted(asked & rule)) for name, rule in rules.items()}
        return sorted(rules, key=lambda name: (-mass[name], name))[:retrieved]

    episodes = _lines(folder / "airline_episodes.jsonl")
    return Log(list(rules), [(nearest(episode["instruction"]), episode["success"]) for episode in episodes])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
