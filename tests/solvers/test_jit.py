from unittest.mock import patch

import pytest

from memopt.solvers import jit


@pytest.mark.parametrize(
    ("options", "states", "left", "compiled"),
    [
        (jit.PLAIN_OPTIONS, 0, None, False),
        (jit.PLAIN_OPTIONS, 0, 0.1, False),
        (jit.PLAIN_OPTIONS + 1, 0, None, True),
        (jit.PLAIN_OPTIONS + 1, 0, 0.1, True),  # such a program cannot be looked at by the plain form
        (0, jit.PLAIN_STATES - 1, None, False),
        (0, jit.PLAIN_STATES, None, True),
        (0, jit.PLAIN_STATES, 10.0, True),
        (0, jit.PLAIN_STATES, jit.LOAD_SECONDS / 2, False),  # loading would take what is left
    ],
)
def test_small_programs_and_short_searches_run_plain_until_the_compiled_form_is_there(
    options, states, left, compiled
):
    jit.prepare()
    with patch.object(jit, "_loaded", []):
        chosen = jit.select(options, states, left)
        assert (chosen is not jit._plain) == compiled
    assert jit.select(options, states, left) is not jit._plain
