"""Chats drawn for tests: parallel calls, results anywhere after them, odd texts and content shapes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from memopt.text.tokens import Remembering

ZOO = (
    "", "yes", "Meet me at the north gate at nine. Bring the map, and do not tell Ann.",
    "记忆预算必须是硬上限。西湖的龙井茶很好喝！", "ありがとうございます。", "👩‍👩‍👧‍👦 🇨🇭🇯🇵",
    "e\u0301e\u0301", "a\u200b\u200bb",
    "x = {k: v**2 for k, v in d.items()}\n", '{"a":[1,2,3],"b":{"c":"d"}}' * 9, "<|endoftext|><|im_start|>",
    " " * 40, "\n" * 20, "\x00\x01\x1b[31m", "don't\n\n  STOP);\n\nNow", "half \ud800 a pair",
    "\t \r\n //\n/",
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(ZOO), st.text(max_size=60), st.lists(st.sampled_from(ZOO), max_size=6).map("\n".join)
)
"""Texts of every kind; joined ones are long enough for levels."""

WORDS = Remembering("words", lambda text: len(text.split()) + len(text) // 50)
"""A counter that needs no package and whose counts are not additive."""


@st.composite
def chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw a chat in which every result follows its call, whatever stands between, and some are missing."""
    steps: list[list[dict[str, Any]]] = []
    for number in range(draw(st.integers(0, 5))):
        content = draw(texts)
        if draw(st.booleans()):
            role = draw(st.sampled_from(["user", "assistant", "system"]))
            shape = draw(st.sampled_from([content, [{"type": "text", "text": content}]]))
            steps.append([{"role": role, "content": shape}])
            continue
        ids = [f"c{number}.{call}" for call in range(draw(st.integers(1, 3)))]
        calls = [
            {"id": name, "type": "function", "function": {"name": "look", "arguments": '{"q":"lake"}'}}
            for name in ids
        ]
        results = [{"role": "tool", "tool_call_id": name, "content": draw(texts)} for name in ids]
        kept = results[: draw(st.integers(0, len(results)))]
        steps.append(
            [{"role": "assistant", "content": draw(st.sampled_from([None, content])), "tool_calls": calls}]
        )
        steps[-1] += draw(st.permutations(kept))
    chat = []
    while any(steps):
        chat.append(draw(st.sampled_from([step for step in steps if step])).pop(0))
    return chat
