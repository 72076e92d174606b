"""What the content of a message says and costs: None, a string, or a list of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

COSTS: Mapping[str, int] = {"image_url": 1445, "image_url:low": 85, "input_audio": 600}
"""Tokens of parts that are no text, whatever they hold.

An image costs what OpenAI bills for the largest there is in gpt-4o (85 and 8 tiles of 170), one of
``"detail": "low"`` 85; audio costs one minute at the 10 tokens a second OpenAI bills. A type of
your own, or another cost, is an entry more: ``{**COSTS, "file": 3000}``.
"""

TEXTS: Mapping[str, str] = {
    "text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal",
    "thinking": "thinking", "reasoning": "text",
}  # fmt: skip
"""Types of parts that are text, and the key their text stands under."""

_REASONING = ("thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class Content:
    """What a message's content says and costs.

    Attributes
    ----------
    text
        Its text, parts one a line; empty when there is none.
    fixed
        Tokens of the parts that are no text.
    reasoning
        The text of its reasoning parts.
    form
        ``string`` or ``parts`` when other text may stand in its place, ``other`` when not: it has
        no text, or parts that are more than text.
    """

    text: str
    fixed: int
    reasoning: str
    form: str

    @property
    def may_shrink(self) -> bool:
        """Whether a poorer text may stand in its place."""
        return self.form != "other"

    def replaced_by(self, text: str) -> str | list[dict[str, str]]:
        """Return the content with another text, in the same form.

        Raises
        ------
        ValueError
            When no other text may stand in its place.
        """
        if not self.may_shrink:
            raise ValueError("this content is more than text: another text cannot stand in its place")
        return text if self.form == "string" else [{"type": "text", "text": text}]


def read_content(content: Any, costs: Mapping[str, int] = COSTS) -> Content:
    """Return what content without faults says and costs."""
    if content is None or isinstance(content, str):
        return Content(content or "", 0, "", "string" if content else "other")
    plain = bool(content) and all(part["type"] == "text" for part in content)
    texts = [(part["type"], part[TEXTS[part["type"]]]) for part in content if part["type"] in TEXTS]
    text = "\n".join(said for _, said in texts)
    reasoning = "\n".join(said for kind, said in texts if kind in _REASONING)
    fixed = sum(costs[cost_of(part)] for part in content if part["type"] not in TEXTS)
    return Content(text, fixed, reasoning, "parts" if plain and text else "other")


def cost_of(part: Mapping[str, Any]) -> str:
    """Return the name under which the cost of a part that is no text stands."""
    kind = str(part["type"])
    image = part.get(kind)
    low = kind == "image_url" and isinstance(image, Mapping) and image.get("detail") == "low"
    return f"{kind}:low" if low else kind
