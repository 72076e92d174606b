"""A span for each allocation, with numbers and no text; nothing is loaded where nobody traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memopt import Instance, InvalidInstance, solve
from memopt.session.config import Config
from memopt.session.session import Session

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry's SDK is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

ITEMS = [
    {"id": "secret-name", "levels": {"raw": {"tokens": 60, "utility": 3.0, "text": "secret text"}}},
    {
        "id": "other",
        "levels": {"raw": {"tokens": 90, "utility": 1.0}, "keywords": {"tokens": 9, "utility": 0.5}},
    },
]


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    trace.set_tracer_provider(provider)
    return made


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[Any]:
    exporter.clear()
    yield exporter.get_finished_spans
    exporter.clear()


def test_an_allocation_is_one_span_of_numbers(spans: Any) -> None:
    solve(Instance.model_validate({"budget": 100, "price": 0.5, "items": ITEMS}))
    (span,) = spans()
    assert span.name == "memopt.allocate"
    assert dict(span.attributes) == {
        "memopt.status": "optimal",
        "memopt.solver": "dp",
        "memopt.items": 2,
        "memopt.budget": 100,
        "memopt.price": 0.5,
        "memopt.tokens.before": 150,
        "memopt.tokens.after": 69,
        "memopt.levels.raw": 1,
        "memopt.levels.keywords": 1,
    }
    assert "secret" not in span.to_json()


@pytest.mark.parametrize("cache_price", [0.0, 1.0])
def test_a_turn_is_one_span_with_its_pressure(spans: Any, cache_price: float) -> None:
    session = Session(Config(gain=2.0, cache_price=cache_price))
    for _ in range(2):
        session.turn([ITEMS[0]], 60)
    first, second = spans()
    assert (first.attributes["memopt.pressure"], first.attributes["memopt.turn"]) == (0.0, 1)
    assert second.attributes["memopt.pressure"] == pytest.approx(0.2)


def test_an_error_names_its_kind_and_nothing_else(spans: Any) -> None:
    class Broken:
        name = "broken"

        def solve(self, program: Any, time_limit: float | None = None) -> Any:
            raise RuntimeError("secret")

    with pytest.raises(RuntimeError):
        solve(Instance.model_validate({"budget": 100, "items": ITEMS}), Broken())  # type: ignore[arg-type]
    (span,) = spans()
    assert span.status.description == "RuntimeError"
    assert span.events == ()
    assert "secret" not in span.to_json()


def test_an_infeasible_problem_says_so(spans: Any) -> None:
    solve(Instance.model_validate({"budget": 1, "items": [ITEMS[0] | {"pinned": True}]}))
    (span,) = spans()
    assert span.attributes["memopt.status"] == "infeasible"
    assert "memopt.tokens.after" not in span.attributes


def test_an_invalid_one_was_never_an_allocation(spans: Any) -> None:
    with pytest.raises(InvalidInstance):
        Session().turn([{"id": "a"}], 10)
    assert spans() == ()
