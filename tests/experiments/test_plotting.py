from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

from memopt.experiments.plotting import band, drawing, finish


def test_the_line_is_the_mean_and_the_band_one_deviation_over_the_seeds_that_have_a_value() -> None:
    axes = drawing().subplots()
    band(axes, [1, 2, 3], [[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]], "both", style="--")
    (line,) = axes.lines
    assert line.get_xdata().tolist() == [1, 2, 3]
    assert line.get_ydata()[:2].tolist() == [2.0, 2.0]
    assert np.isnan(line.get_ydata()[2])
    assert line.get_linestyle() == "--"
    assert line.get_label() == "both (0 to 2 of 2 seeds)"
    edge = axes.collections[0].get_paths()[0].vertices
    at_1 = edge[edge[:, 0] == 1, 1]
    assert (at_1.min(), at_1.max()) == pytest.approx((2 - 2**0.5, 2 + 2**0.5))


def test_one_seed_has_no_band() -> None:
    axes = drawing().subplots()
    band(axes, [1, 2], [[1.0, 2.0]], "alone")
    assert len(axes.collections) == 0


def test_axes_are_finished_with_title_labels_and_a_legend_of_what_is_there() -> None:
    axes, empty = drawing().subplots(1, 2)
    band(axes, [1, 2], [[1.0, 2.0]], "alone")
    for each in (axes, empty):
        finish(each, "title", "x in steps", "y")
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("title", "x in steps", "y")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["alone"]
    assert empty.get_legend() is None


def test_the_same_drawing_is_the_same_bytes() -> None:
    def drawn() -> bytes:
        made = drawing()
        axes = made.subplots()
        band(axes, [1, 2], [[1.0, 2.0], [2.0, 2.5]], "a")
        finish(axes, "t", "x", "y")
        file = io.BytesIO()
        made.savefig(file, format="png", metadata={"Software": None})
        return file.getvalue()

    assert drawn() == drawn()


def test_matplotlib_is_loaded_by_a_drawing_alone() -> None:
    code = (
        "import sys, memopt.experiments.worth_calibration, memopt.experiments.result\n"
        "assert 'matplotlib' not in sys.modules\n"
        "memopt.experiments.plotting.drawing()\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
