import os
import signal
import threading
from unittest.mock import patch

import pytest

from memopt.compile import compile
from memopt.families import generate
from memopt.solvers import jit
from memopt.solvers.dp import DynamicProgram


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


@pytest.mark.parametrize("seconds", [0.01, 0.02, 0.05])
def test_an_interrupt_inside_a_compiled_search_is_an_interrupt(seconds):
    program = compile(generate("priced", 1_000, 1)).program  # some seconds of search
    jit.prepare()
    interrupt = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            DynamicProgram().solve(program)
    finally:
        interrupt.cancel()
