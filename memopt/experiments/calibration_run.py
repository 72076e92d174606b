"""One seed of worth-calibration: a world, its episodes, what the counters and the two rules say of it."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from memopt.experiments.experiment import Run
from memopt.experiments.ranks import spearman
from memopt.experiments.success import SuccessParameters
from memopt.session.counters import (
    LABELS,
    Floats,
    Ints,
    WorthRule,
    classify,
    interval,
    new_table,
    ratio,
    record,
    retrieval_weights,
)

SILENT, UNIFORM, SCORE, ORACLE, SHUFFLED = ARMS = (
    "no feedback",
    "uniform",
    "score-proportional",
    "oracle",
    "shuffled outcomes",
)
"""How retrievals are credited. The last is a control of ours: outcomes of other episodes, uniform weights."""
COUNTS = (
    "thresholds: called high or low",
    "thresholds: right, p+ lies beyond",
    "thresholds: right side of the base rate",
    "interval: called off the base rate",
    "interval: right side of the base rate",
)
"""Numbers of memories: what the two rules call them under uniform weights, and how often rightly."""
RANGE = "range of true p+"
_POINTS = 100
_DRAWS = 20_000
_AT_A_TIME = 2**20


class CalibrationParameters(SuccessParameters):
    """Parameters of the world, and of the rule whose labels are judged.

    Attributes
    ----------
    memories, retrieved, episodes
        Number of memories; how many an episode retrieves (uniformly, without replacement); number of
        episodes.
    checkpoints
        Episodes at which figures are taken; those after the last episode are left out.
    score_spread
        Retrieval scores are uniform in 1 ± this: 0 weighs uniformly, 1 as widely as U(0, 1) scores do.
    high, low, confidence
        Thresholds of the labels; confidence of the interval.
    """

    memories: Annotated[int, Field(ge=2, le=10_000)] = 100
    retrieved: Annotated[int, Field(ge=1)] = 8
    episodes: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    checkpoints: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1, max_length=20)] = (
        2_000,
        5_000,
        10_000,
    )
    score_spread: Annotated[float, Field(ge=0, le=1)] = 0.2
    high: Annotated[float, Field(ge=0, le=1)] = 0.60
    low: Annotated[float, Field(ge=0, le=1)] = 0.40
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95

    @model_validator(mode="after")
    def _fits_together(self) -> CalibrationParameters:
        if self.retrieved > self.memories:
            raise ValueError(f"{self.retrieved} memories cannot be retrieved out of {self.memories}")
        if self.low >= self.high:
            raise ValueError(f"low must lie below high, read {self.low} and {self.high}")
        return self

    @property
    def stops(self) -> tuple[int, ...]:
        """Checkpoints within the run; the end of the run if there is none."""
        return tuple(sorted({at for at in self.checkpoints if at <= self.episodes})) or (self.episodes,)

    @property
    def rule(self) -> WorthRule:
        """The rule that labels."""
        return WorthRule(high=self.high, low=self.low, confidence=self.confidence)


def named(what: str, at: int) -> str:
    """Return the name of a figure that is taken after ``at`` episodes."""
    return f"{what}, {at:,}"


def run_seed(parameters: CalibrationParameters, seed: int) -> Run:
    """Return the run of a seed."""
    random = np.random.default_rng(seed)
    utility = random.random(parameters.memories)
    retrieved = draw(random, parameters.episodes, parameters.memories, parameters.retrieved)
    success = random.random(parameters.episodes) < parameters.chance(utility[retrieved].mean(axis=1))
    scores = 1 + parameters.score_spread * random.uniform(-1, 1, retrieved.shape)
    shuffled = random.permutation(success)
    p_plus = true_worth(parameters, random, utility)

    thinned = math.ceil(parameters.episodes / _POINTS)
    curve = range(thinned, parameters.episodes + 1, thinned)
    table = new_table(len(ARMS) * parameters.memories)
    tables = table.reshape(len(ARMS), parameters.memories, -1)
    values: dict[str, float | None] = {}
    worth: dict[str, Any] = {}
    confusion: dict[str, Any] = {}
    rho: list[Floats] = []
    before = 0
    for at in sorted({*curve, *parameters.stops}):
        part = slice(before, at)
        credit(table, retrieved[part], success[part], shuffled[part], scores[part], utility)
        found = spearman(ratio(tables), utility)
        if at in curve:
            rho.append(found)
        if at in parameters.stops:
            values |= {named(f"rho, {arm}", at): float(each) for arm, each in zip(ARMS, found, strict=True)}
            uniform = tables[ARMS.index(UNIFORM)]
            counts = _judge(parameters.rule, uniform, float(success[:at].mean()), p_plus)
            values |= {named(name, at): count for name, count in counts.items()}
            worth[str(at)] = ratio(uniform)
            confusion[str(at)] = _confusion(parameters.rule, uniform, p_plus)
        before = at
    values[RANGE] = float(np.ptp(p_plus))
    return Run(
        seed,
        values,
        {"x": list(curve)} | dict(zip(ARMS, np.transpose(rho).tolist(), strict=True)),
        {"utility": utility, "p_plus": p_plus, "worth": worth, "labels_by_true_class": confusion},
    )


def draw(random: np.random.Generator, episodes: int, memories: int, retrieved: int) -> Ints:
    """Draw a set of memories for every episode, uniformly; shape ``[episodes, retrieved]``, sorted."""
    step = max(1, _AT_A_TIME // memories)
    parts = []
    for begin in range(0, episodes, step):
        keys = random.random((min(step, episodes - begin), memories))
        parts.append(np.sort(keys.argpartition(retrieved - 1, axis=1)[:, :retrieved], axis=1))
    return np.concatenate(parts)


def credit(
    table: Floats,
    retrieved: Ints,
    success: NDArray[np.bool_],
    shuffled: NDArray[np.bool_],
    scores: Floats,
    utility: Floats,
) -> None:
    """Credit some episodes to all arms at once: they are worlds of one table."""
    equal = retrieval_weights(np.ones(retrieved.shape))
    weights = {
        SILENT: np.zeros(retrieved.shape),  # retrieved as ever, but no outcome is told
        UNIFORM: equal,
        SCORE: retrieval_weights(scores),
        ORACLE: retrieval_weights(utility[retrieved]),
        SHUFFLED: equal,
    }
    outcomes = [shuffled if arm == SHUFFLED else success for arm in ARMS]
    worlds = len(utility) * np.arange(len(ARMS))
    record(
        table,
        worlds[:, None, None] + retrieved,
        np.stack([weights[arm] for arm in ARMS]),
        np.stack(outcomes)[..., None],
    )


def true_worth(parameters: CalibrationParameters, random: np.random.Generator, utility: Floats) -> Floats:
    """Return p+ of every memory: its chance of success over the sets that can be retrieved with it.

    Exact for the model ``mean``. For the sigmoid it is an average over random sets, the same for all
    memories, with the linear part computed exactly (a control variate); the error is about 1e-5. A memory
    that is not in a set takes the place of a random member.
    """
    memories, size = parameters.memories, parameters.retrieved
    sets = draw(random, _DRAWS, memories, size)
    leaves = sets[np.arange(_DRAWS), random.integers(size, size=_DRAWS)]
    slope = parameters.gain / 4 if parameters.success_model == "sigmoid" else 1.0
    step = max(1, _AT_A_TIME // memories)
    bent = np.zeros(memories)
    for begin in range(0, _DRAWS, step):
        some = sets[begin : begin + step]
        total = utility[some].sum(axis=1)[:, None]
        mean = (total - utility[leaves[begin : begin + step]][:, None] + utility) / size
        np.put_along_axis(mean, some, total / size, axis=1)
        bent += (parameters.chance(mean) - slope * mean).sum(axis=0)
    companions = (utility.sum() - utility) / (memories - 1)
    linear: Floats = slope * (utility + (size - 1) * companions) / size
    return bent / _DRAWS + linear


def _judge(rule: WorthRule, table: Floats, base_rate: float, p_plus: Floats) -> dict[str, float | None]:
    """Return how many memories each rule labels, and how many rightly; names as in `COUNTS`."""
    codes = classify(table, rule)
    high, low = codes == LABELS.index("high"), codes == LABELS.index("low")
    bottom, top = interval(table, rule)
    above, below = bottom > base_rate, top < base_rate
    better = p_plus > p_plus.mean()  # every set holds as many memories, so this is the true base rate
    found = (
        high | low,
        (high & (p_plus >= rule.high)) | (low & (p_plus <= rule.low)),
        (high & better) | (low & ~better),
        above | below,
        (above & better) | (below & ~better),
    )
    return {name: float(each.sum()) for name, each in zip(COUNTS, found, strict=True)}


def _confusion(rule: WorthRule, table: Floats, p_plus: Floats) -> dict[str, dict[str, int]]:
    """Return how many memories of each true class got each label."""
    codes = classify(table, rule)
    true = np.where(p_plus >= rule.high, "high", np.where(p_plus <= rule.low, "low", "mixed"))
    return {
        kind: {label: int((codes[true == kind] == code).sum()) for code, label in enumerate(LABELS)}
        for kind in ("high", "low", "mixed")
    }
