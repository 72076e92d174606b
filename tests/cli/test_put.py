"""`memopt put`: originals added, kept and refused."""

from __future__ import annotations

from typing import Any

from session_inputs import ORIGINAL, told


def test_put_adds_keeps_and_refuses(run: Any, begun: list[str]) -> None:
    done = told(run("put", "-", *begun, "--json", "--id", "p2", data={"b": "new", "p": "pin"}))
    assert done == {"event": "p2", "recorded": True, "same": True, "added": ["b", "p"]}
    for data, same in (
        ({"b": "new", "p": "pin", "a": ORIGINAL}, True),
        ({"b": "new"}, False),
        ({"c": "new"}, False),
    ):
        again = told(run("put", "-", *begun, "--json", "--id", "p2", data=data))
        assert (again["recorded"], again["same"]) == (False, same)
    done = run("put", "-", *begun, "--id", "p2", data={"c": "new"})
    assert (done.exit_code, done.stdout) == (0, "")
    assert "'p2' was recorded before with other content: nothing is changed" in done.stderr
    assert run("put", "-", *begun, data={"b": "new"}).stdout == "0 originals added, 1 there before\n"
    assert run("put", "-", *begun, data={"e": "new"}).stdout == "1 original added, 0 there before\n"
    for data, said in (
        ({"b": "another"}, "item 'b' has another original already"),
        ({"d": 3}, "originals are texts by readable ids; not so 'd'"),
        ([], "originals are an object"),
        (b"x", "no JSON"),
    ):
        done = run("put", "-", *begun, data=data)
        assert done.exit_code == 2
        assert said in done.stderr
