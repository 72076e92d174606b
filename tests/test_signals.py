from __future__ import annotations

import os
import signal
from threading import Thread

import pytest

from memopt.signals import held_back


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_comes_inside_is_heard_at_the_end(name: str) -> None:
    number, steps = getattr(signal, name), []
    before = signal.signal(number, lambda number, frame: steps.append("heard"))
    try:
        with held_back():
            os.kill(os.getpid(), number)
            os.kill(os.getpid(), number)
            steps.append("inside")
        assert steps == ["inside", "heard"]
        os.kill(os.getpid(), number)
        assert steps == ["inside", "heard", "heard"]
    finally:
        signal.signal(number, before)


def test_an_interrupt_is_raised_behind_an_error() -> None:
    def disturbed() -> None:
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            raise ImportError("a module that could not be loaded")

    with pytest.raises(KeyboardInterrupt) as raised:
        disturbed()
    assert isinstance(raised.value.__context__, ImportError)


def test_another_thread_holds_nothing_back() -> None:
    steps = []

    def work() -> None:
        with held_back():
            steps.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert steps == [signal.getsignal(signal.SIGINT)]
