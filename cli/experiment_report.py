"""What the screen shows of an experiment: its paper, a table per kind of comparison, and claims."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memopt.errors import counted

from .tables import table

if TYPE_CHECKING:
    from memopt.experiments.experiment import Claims, Experiment, Parameters
    from memopt.experiments.papers import Paper

Row = Mapping[str, Any]

_MOST_WIDTH = 100
_CELLS: dict[str, Callable[[Row], str]] = {
    "measured": lambda row: str(row["name"]),
    "published\n± band": lambda row: _published(row),
    "expected": lambda row: f"{row['expected']:g}",
    "ours": lambda row: f"{_number(row, 'ours')} {row['unit'] or ''}".rstrip(),
    "± sd": lambda row: _number(row, "spread"),
    "diff.": lambda row: _number(row, "difference", "+"),
    "met": lambda row: _met(row),
}
_BESIDE_PUBLISHED = ("measured", "published\n± band", "ours", "± sd", "diff.", "met")
_BESIDE_THEORY = ("measured", "expected", "ours", "met")
_ALONE = ("measured", "ours", "± sd")
_SEEDS = "ours: mean over the seeds, ± sd: its standard deviation over them; diff.: ours less published."
_OVER = "over: seeds without a value are left out of mean and deviation; blank: all have one."
_MET = "met: ours lies within the band around the published figure (bands are set here); a dash: not judged."
_RANGE = "Of a published range, diff. is to its nearer end; within: outside it by no more than the band."
_UNJUDGED = "met: nothing is judged, for this run ({}) is not the setup that was compared with the paper."
_NONE = (
    "No table of published or expected figures: this run ({}) measured none of what they were compared "
    "with, such as a checkpoint it does not reach."
)
_EXACTLY = (
    "met: ours is exactly what is expected: what theory demands in any setup; of the control, given enough "
    "problems."
)


def report(experiment: Experiment[Any], parameters: Parameters, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text about a run, table by table; ``document`` is its result."""
    changed, seeds, notes = settings(parameters.changed), document["seeds"], document["notes"]
    unlike = [name for name in notes if name not in parameters.changed]
    yield f"{experiment.title}\n"
    yield wrapped(f"{of_paper(experiment)} {experiment.paper.known_from}")
    yield wrapped(f"{counted(len(seeds), 'seed')}: {span(seeds)}; parameters changed: {changed or 'none'}")
    for name, note in notes.items():
        yield wrapped(f"Note on {name}: {note}")
    setup = " ".join([*([changed] if changed else []), *(f"{name}: see above" for name in unlike)])
    yield from _tables(document["table"], setup, len(seeds))
    yield from _claimed(experiment.claims, _others(experiment, seeds, changed, unlike))


def of_paper(experiment: Experiment[Any]) -> str:
    """Return which experiment it is, and of which paper."""
    part = "Checks of the parts" if experiment.number is None else f"Experiment {experiment.number}"
    return f"{part} of {cited(experiment.paper)}"


def cited(paper: Paper) -> str:
    """Return a paper by name and reference."""
    return f"{paper.name}: {paper.reference}."


def settings(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `--set` takes them."""
    return " ".join(
        f"{name}={','.join(map(str, value)) if isinstance(value, tuple) else str(value)}"
        for name, value in parameters.items()
    )


def span(seeds: Sequence[int]) -> str:
    """Return seeds as a range, such as 0-19, or as a list."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(map(str, seeds))


def wrapped(text: str, first: str = "", later: str = "") -> str:
    """Return a paragraph as lines of at most the terminal's width; words and settings stay whole."""
    width = min(_MOST_WIDTH, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=later,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def _tables(rows: Sequence[Row], setup: str, seeds: int) -> Iterator[str]:
    """Yield the tables; ``setup`` is how a run differs from the one compared with the paper, if it does."""
    published = [row for row in rows if row["published"] is not None]
    expected = [row for row in rows if row["expected"] is not None]
    alone = [row for row in rows if row["published"] is None and row["expected"] is None]
    if published:
        yield from _table(_BESIDE_PUBLISHED, published, seeds)
        yield wrapped(_SEEDS)
        yield wrapped(_UNJUDGED.format(setup) if setup else _MET)
        if any(isinstance(row["published"], list) for row in published):
            yield wrapped(_RANGE)
    if expected:
        yield from _table(_BESIDE_THEORY, expected, seeds)
        yield wrapped(_EXACTLY)
    if setup and not (published or expected):
        yield wrapped(_NONE.format(setup))
    if alone:
        yield "Measured, with nothing published to compare:\n"
        yield from _table(_ALONE, alone, seeds)


def _table(columns: Sequence[str], rows: Sequence[Row], seeds: int) -> Iterator[str]:
    """Yield a table, with a column on the seeds and its meaning where some have no value."""
    over = [_over(row, seeds) for row in rows]
    some = any(over)
    cells = (
        [_CELLS[name](row) for name in columns] + [few] * some for row, few in zip(rows, over, strict=True)
    )
    yield table([*columns, *(["over"] * some)], cells)
    if some:
        yield wrapped(_OVER)


def _over(row: Row, seeds: int) -> str:
    """Return of how many seeds a figure is the mean; empty where it is of all."""
    found = row["seeds_with_value"]
    return "" if found in (None, seeds) else f"{found} of {counted(seeds, 'seed')}"


def _published(row: Row) -> str:
    """Return what was published to the digits it was published with, and its band if it is judged."""
    ends = row["published"] if isinstance(row["published"], list) else [row["published"]]
    band = f" ± {row['band']:g}" if row["band"] or (row["band"] == 0 and len(ends) == 1) else ""
    return "-".join(f"{end:g}" for end in ends) + band


def _met(row: Row) -> str:
    """Return the verdict; what lies outside a published range is met by its band alone, and says so."""
    if row["met"] and row["band"] and isinstance(row["published"], list) and row["difference"]:
        return f"within {row['band']:g}"
    return {True: "yes", False: "no", None: "-"}[row["met"]]


def _number(row: Row, column: str, sign: str = "") -> str:
    """Return a figure: a rate to three digits after the point, a count or a large figure to one or none."""
    value = row[column]
    if value is None:
        return "-"
    if row["unit"] is None and abs(value) < 100:
        return f"{value:{sign}.3f}"
    if 0 < abs(value) < 0.05:
        return f"{value:{sign}.1g}"  # a count that is not 0 must not read as 0
    return f"{value:{sign},.1f}".removesuffix(".0")


def _others(experiment: Experiment[Any], seeds: Sequence[int], changed: str, unlike: Sequence[str]) -> str:
    """Return how a run differs from that of the defaults; empty where it does not."""
    parts = [f"other parameters ({changed})"] if changed else []
    parts += [f"another {name} (see above)" for name in unlike]
    if sorted(seeds) != sorted(experiment.seeds):
        parts.append(f"other seeds ({span(seeds)}, not {span(experiment.seeds)})")
    return " and ".join(parts)


def _claimed(claims: Claims, others: str) -> Iterator[str]:
    """Yield what the figures do and do not show."""
    if claims.component_only:
        yield wrapped("Component only: a mechanism is exercised, no agent and no language model.")
    if claims.diagnostic_only:
        yield wrapped("Diagnostic only: no improvement of any task is claimed.")
    shows = f"At the defaults it shows; this run has {others}, read its own rows:" if others else "Shows:"
    for heading, sentences in ((shows, claims.shows), ("Does not show:", claims.shows_not)):
        if sentences:
            yield wrapped(heading)
        for sentence in sentences:
            yield wrapped(sentence, "  - ", "    ")
