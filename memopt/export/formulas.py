"""The model in formulas that LaTeX and Markdown's math both read."""

DISPLAYED = (
    (
        "Every item $i$ is kept at exactly one level $l$, where it takes $s_{il}$ tokens and is worth "
        "$v_{il}$, its utility less the price of its tokens, rounded once to a grid; deleted items take and "
        "are worth nothing. Maximise the value",
        r"\sum_{i}\sum_{l} v_{il}\,x_{il}",
    ),
    ("so that every item has one level,", r"\sum_{l} x_{il} = 1 \quad\text{for every item } i,"),
    ("the tokens are within the budget $B$,", r"\sum_{i}\sum_{l} s_{il}\,x_{il} \le B,"),
    (
        "the members of a group $g$ are all present or all deleted,",
        r"x_{i,\mathrm{delete}} = x_{j,\mathrm{delete}} \quad\text{for } i, j \in g,",
    ),
    (
        "and of an exclusive set $e$ at most one unit (a lone item or a whole group, which any member $j$ "
        "stands for) is present:",
        r"\sum_{j \in e} \left(1 - x_{j,\mathrm{delete}}\right) \le 1, \qquad x_{il} \in \{0, 1\}.",
    ),
    ("Of equally good selections the one with the fewest tokens is taken. A pinned item lacks delete.", ""),
)
"""Sentence and displayed formula in turn; an empty formula ends the text."""
