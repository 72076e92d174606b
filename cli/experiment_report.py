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
    "met": lambda row: {True: "yes", False: "no", None: "-"}[row["met"]],
}
_BESIDE_PUBLISHED = ("measured", "published\n± band", "ours", "± sd", "diff.", "met")
_BESIDE_THEORY = ("measured", "expected", "ours", "met")
_ALONE = ("measured", "ours", "± sd")
_SEEDS = "ours: mean over the seeds, ± sd: its standard deviation over them; diff.: ours less published."
_MET = "met: ours lies within the band around the published figure (bands are set here); a dash: not judged."
_UNJUDGED = "met: nothing is judged, for this run ({}) is not the setup that was compared with the paper."
_NONE = (
    "No table of published or expected figures: this run ({}) measured none of what they were compared "
    "with, such as a checkpoint it does not reach."
)
_EXACTLY = (
    "met: ours is exactly what is expected: what theory demands in any setup; of the control, given enough "
    "problems."
)


def report(
    experiment: Experiment[Any], parameters: Parameters, seeds: Sequence[int], table: Sequence[Row]
) -> Iterator[str]:
    """Yield the text about a run, table by table; ``table`` holds the rows of the result."""
    changed = settings(parameters.changed)
    yield f"{experiment.title}\n"
    yield wrapped(f"{of_paper(experiment)} {experiment.paper.known_from}")
    yield wrapped(f"{counted(len(seeds), 'seed')}: {span(seeds)}; parameters changed: {changed or 'none'}")
    yield from _tables(table, changed)
    yield from _claimed(experiment.claims, _others(experiment, seeds, changed))


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


def _tables(rows: Sequence[Row], changed: str) -> Iterator[str]:
    published = [row for row in rows if row["published"] is not None]
    expected = [row for row in rows if row["expected"] is not None]
    alone = [row for row in rows if row["published"] is None and row["expected"] is None]
    if published:
        yield _table(_BESIDE_PUBLISHED, published)
        yield wrapped(_SEEDS)
        yield wrapped(_UNJUDGED.format(changed) if changed else _MET)
    if expected:
        yield _table(_BESIDE_THEORY, expected)
        yield wrapped(_EXACTLY)
    if changed and not (published or expected):
        yield wrapped(_NONE.format(changed))
    if alone:
        yield "Measured, with nothing published to compare:\n"
        yield _table(_ALONE, alone)


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    return table(columns, ([_CELLS[name](row) for name in columns] for row in rows))


def _published(row: Row) -> str:
    """Return a published figure to the digits it was published with, and its band if it is judged."""
    return f"{row['published']:g}" + ("" if row["band"] is None else f" ± {row['band']:g}")


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


def _others(experiment: Experiment[Any], seeds: Sequence[int], changed: str) -> str:
    """Return how a run differs from that of the defaults; empty where it does not."""
    parts = [f"other parameters ({changed})"] if changed else []
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
