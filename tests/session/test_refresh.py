"""Levels come anew from the originals, always the same, and open nothing in the running turn."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memopt.columns import DEFAULT_LADDER, DELETE
from memopt.session.fidelity import FidelityLedger, Held
from memopt.session.pressure import PressureQueue
from memopt.session.refresh import Archive, Compressor, Refreshed, reextract
from memopt.session.session import Session
from memopt.text.compress import compressors
from memopt.text.idf import StreamingIdf


class Originals(dict[str, str]):
    """An archive in memory."""

    def ids(self) -> Iterable[str]:
        return self.keys()

    def original(self, item: str) -> str | None:
        return self.get(item)


ARCHIVE = Originals(b="Two words.", a="One. And more of it.")
CUTS: dict[str, Compressor] = {"summary": lambda text: text[:4], "keywords": lambda _: ""}


def test_levels_come_from_the_original_richest_first() -> None:
    made = reextract(ARCHIVE, CUTS, DEFAULT_LADDER)
    assert made == Refreshed(
        {"a": {"raw": ARCHIVE["a"], "summary": "One."}, "b": {"raw": ARCHIVE["b"], "summary": "Two "}}, ()
    )
    assert list(made.texts) == ["a", "b"]  # whatever order the archive has


def test_what_has_no_original_is_missing_and_stays_capped() -> None:
    ledger = FidelityLedger().after(1, {"a": Held(DELETE, 0), "lost": Held(DELETE, 0)})
    made = reextract(ARCHIVE, CUTS, ledger.ladder, ["lost", "a"])
    opened = ledger.refresh(1, made.texts)
    assert made.missing == ("lost",)
    assert opened.admit(2, "a", {"raw": 9}).current is None
    assert opened.admit(2, "lost", {"raw": 9}).current == DELETE


def test_candidates_open_exactly_one_turn_later_and_the_queue_goes_on() -> None:
    queue, ledger = PressureQueue(gain=1.5), FidelityLedger()
    seen = []
    for turn in range(1, 7):
        seen.append(ledger.admit(turn, "a", {"raw": 5}).current)
        ledger = ledger.after(turn, {"a": Held(DELETE, 0)})
        before = queue
        if turn == 4:
            ledger = ledger.refresh(turn, reextract(ARCHIVE, CUTS, ledger.ladder).texts)
        queue = queue.after(1000, 1000)
        assert queue.turn == before.turn + 1
        assert queue.pressure_units == 2 * turn * 10**17
    assert seen == [None, DELETE, DELETE, DELETE, None, DELETE]


def test_refreshing_twice_makes_the_same_levels() -> None:
    idf = StreamingIdf()
    texts = Originals(
        m="We met in Oslo. It rained all day. The fjord tour starts at nine. Tickets cost forty."
    )
    idf.observe(texts["m"])
    once, twice = (reextract(texts, compressors(idf), DEFAULT_LADDER) for _ in range(2))
    assert once == twice
    assert once.texts["m"]["raw"] == texts["m"]
    assert list(once.texts["m"]) == ["raw", "summary", "abstraction"]


def test_a_compressor_must_return_text() -> None:
    with pytest.raises(TypeError, match="compressor of 'summary' returned int"):
        reextract(ARCHIVE, {"summary": len}, DEFAULT_LADDER)  # type: ignore[dict-item]  # the mistake itself


def test_an_archive_is_read_and_never_written() -> None:
    archive: Archive = ARCHIVE
    before = dict(ARCHIVE)
    reextract(archive, CUTS, DEFAULT_LADDER)
    assert before == ARCHIVE
    assert not {name for name in vars(Archive) if not name.startswith("_")} - {"ids", "original"}


def test_no_level_comes_from_a_richer_one() -> None:
    cuts: dict[str, Compressor] = {"summary": lambda text: text[:4], "keywords": lambda text: text[-3:]}
    made = reextract(ARCHIVE, cuts, DEFAULT_LADDER, ["a"])
    assert made.texts["a"] == {"raw": ARCHIVE["a"], "summary": "One.", "keywords": "it."}


@pytest.mark.parametrize("level", ["raw", "gist", "delete"])
def test_a_level_that_is_no_poorer_one_is_refused_before_anything_opens(level: str) -> None:
    session = Session()
    session.put({"a": "text"})
    session.turn([{"id": "a", "levels": {"raw": {"tokens": 9, "utility": 1}}}], 0)
    with pytest.raises(ValueError, match=f"no poorer level '{level}'"):
        session.refresh({level: str.upper})
    assert session.state.ledger.opens == {}


def test_one_id_is_no_list_of_ids() -> None:
    with pytest.raises(TypeError, match="read the text 'task'"):
        Session().refresh({}, items="task")
