"""The papers that the experiments are from, and what of them could be read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper, named wherever its figures are.

    Attributes
    ----------
    name
        What it is called here.
    reference
        Author, title, place.
    known_from
        The source of what is said about it, in a sentence: neither paper's full text was accessible.
    """

    name: str
    reference: str
    known_from: str


MEMORY_WORTH = Paper(
    "Memory Worth",
    "Baris Simsek, 'When to Forget: A Memory Governance Primitive', arXiv 2604.12007",
    "Published values are from its abstract and public notes; its full text was not accessible, "
    "and no official code is released.",
)
MEMPRICE = Paper(
    "MemPrice",
    "Yiming Zong et al. (HKUST IEDA), MemPrice, arXiv, 2026",
    "What is said of it is from a public digest; its full text and its code were not accessible.",
)
