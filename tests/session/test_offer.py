from __future__ import annotations

import json

from hypothesis import given
from strategies import declarations

from memopt import Instance
from memopt.session import offer


@given(declarations())
def test_candidates_survive_to_the_last_bit(declared):
    declared = declared if isinstance(declared, dict) else declared.model_dump()
    instance = Instance.model_validate(declared)
    columns = json.loads(json.dumps(offer.written(instance)))
    again = Instance.model_validate(
        {
            "budget": columns["budget"],
            "price": instance.price,
            "ladder": instance.ladder,
            "repair": instance.repair,
            "items": offer.read(columns),
        }
    )
    assert offer.written(again) == columns
    assert again.capacity == instance.capacity
    for one, other in zip(again.items, instance.items, strict=True):
        for name in ("id", "order", "current", "pinned", "min_level", "group", "exclusive"):
            assert getattr(one, name) == getattr(other, name)
        held = {
            level: option for level, option in other.levels.items() if option and option.tokens is not None
        }
        assert {level: (option.tokens, option.utility) for level, option in one.levels.items()} == {
            level: (option.tokens, option.utility) for level, option in held.items()
        }


def test_columns_that_say_nothing_are_left_out_and_texts_are_never_kept():
    item = {"id": "a", "levels": {"raw": {"tokens": 1, "utility": "0.10", "text": "secret"}}, "order": 0}
    columns = offer.written(Instance.model_validate({"budget": {"window": 9}, "items": [item]}))
    assert "secret" not in json.dumps(columns)
    assert columns["order"] == [0]
    assert "group" not in columns
    assert columns["budget"] == {"window": 9, "reserved": {}}
    assert columns["utility"]["raw"] == ["0.10"]
    assert columns["tokens"]["summary"] == [None]
