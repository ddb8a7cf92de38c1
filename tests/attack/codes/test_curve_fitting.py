# SPDX-License-Identifier: MIT
"""Curve fitting: curves by hand and by numpy, points good and bad, controls on the original and on noise."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.codes.curve_combination import CurveCombination
from sfumato.attack.codes.curve_fitting import POINTS, CurveFitting
from sfumato.public.codes.coded_columns import CodedColumn
from sfumato.public.codes.crack_functions import FITS, KnowledgePoints, fit_curve


def column(values: Any, codes: Any = None) -> CodedColumn:
    return CodedColumn.of("x", pl.Series(values if codes is None else codes), pl.Series(values))


def release(codes: Any) -> sf.Release:
    return sf.Release(sf.Table.of({"x": codes}), None, (), {})


LINE = np.arange(1200.0)
TRUTH = sf.Table.of({"x": LINE})


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("many", [2, 3, 4, 8])
def test_curves_go_through_points_on_a_line(fit: Any, many: int) -> None:
    """Every curve through points of y = 3x + 1 is that line, between the points and beyond."""
    codes = np.sort(np.random.default_rng(1).choice(100, (5, many)).astype(float), axis=1) + np.arange(many) * 0.5
    curves = fit_curve(KnowledgePoints(codes, 3 * codes + 1), LINE, fit)
    assert np.allclose(curves, np.broadcast_to(3 * LINE + 1, (5, len(LINE))), rtol=1e-6)


def test_a_polyline_by_numpy_and_a_regression_by_hand() -> None:
    points = KnowledgePoints(np.array([[0.0, 10, 20]]), np.array([[0.0, 10, 0]]))
    assert fit_curve(points, np.array([0.0, 5, 10, 15, 20, 25, -5]), "polyline")[0].tolist() == [0, 5, 10, 5, 0, -5, -5]
    assert np.allclose(fit_curve(points, np.array([0.0, 10, 20]), "regression"), 10 / 3)
    assert np.allclose(fit_curve(points, np.array([5.0]), "spline"), 7.5)  # the parabola x (20 − x) / 10
    lot = np.random.default_rng(0)
    x, y = np.sort(lot.choice(1000, (20, 6), replace=False).astype(float), axis=1), lot.normal(size=(20, 6))
    curves = fit_curve(KnowledgePoints(x, y), LINE, "polyline")
    for row in range(20):
        inner_mask = (x[row, 0] <= LINE) & (x[row, -1] >= LINE)
        assert np.allclose(curves[row][inner_mask], np.interp(LINE, x[row], y[row])[inner_mask])


@pytest.mark.parametrize("radius", [0.01, 0.02, 0.05])
def test_good_points_are_near_and_bad_ones_are_far(radius: float) -> None:
    coded_column = column(LINE, LINE * 7 - 3)
    points = KnowledgePoints.draw(coded_column, 3, 2, radius, 200, np.random.default_rng(2))
    distances = np.abs(points.values - (points.codes + 3) / 7)
    reach = radius * coded_column.width
    assert ((distances <= reach).sum(axis=1) == 3).all() and ((distances > 5 * reach).sum(axis=1) == 2).all()
    assert (np.diff(points.codes, axis=1) > 0).all()


def test_no_more_points_than_codes_and_none_at_all() -> None:
    coded_column = column([1.0, 2.0, 4.0])
    points = KnowledgePoints.draw(coded_column, 8, 0, 0.01, 3, np.random.default_rng(0))
    assert points.codes.shape == (3, 3)
    no_points = KnowledgePoints.draw(coded_column, 0, 0, 0.01, 3, np.random.default_rng(0))
    assert fit_curve(no_points, coded_column.codes, "polyline").tolist() == [[1.0, 2.0, 4.0]] * 3
    single = KnowledgePoints.draw(coded_column, 1, 0, 0.01, 3, np.random.default_rng(0))
    assert fit_curve(single, coded_column.codes, "spline").shape == (3, 3)


@pytest.mark.parametrize("attack", [CurveFitting(radius=0.002), CurveCombination(radius=0.002)])
def test_it_succeeds_on_the_original_and_fails_on_noise(attack: Any) -> None:
    assert attack.run(release(LINE), TRUTH).low > 0.5
    noise = np.random.default_rng(0).choice(LINE, len(LINE))
    assert attack.run(release(noise), TRUTH).risk < 0.02


def test_more_knowledge_cracks_more_and_a_bad_point_less() -> None:
    """On a bent column; √ is not a line."""
    bent_release = release(np.sqrt(LINE))
    risks = [CurveFitting(knowledge=kind, trials=200).run(bent_release, TRUTH).risk for kind in POINTS]
    assert risks == sorted(risks) and risks[0] < 0.1 < risks[3]
    assert CurveFitting(bad=1, trials=200).run(bent_release, TRUTH).risk < risks[2]


@pytest.mark.parametrize("kind", [CurveFitting, CurveCombination])
@pytest.mark.parametrize("knowledge", POINTS)
def test_falling_codes_are_read_as_well_as_rising_ones(kind: Any, knowledge: Any) -> None:
    rising, falling = (
        kind(knowledge=knowledge, trials=20).run(release(codes), TRUTH).successes for codes in (LINE, LINE[::-1].copy())
    )
    assert falling == pytest.approx(rising, abs=60) and falling > 600


def test_counts_and_facts() -> None:
    outcome = CurveFitting(trials=50).run(release(LINE * 2), TRUTH, control=sf.Table.of({"x": LINE[::-1].copy()}))
    assert outcome.attempts == 1200 and outcome.baseline == pytest.approx(0.04 * 1200, abs=2)
    assert outcome.control is not None and outcome.control < 200 < outcome.successes
    facts = outcome.facts["columns"]["x"]
    assert facts["tenth"] <= facts["median_low"] <= facts["median"] <= facts["median_high"] <= facts["ninetieth"]
    assert outcome == CurveFitting(trials=50).run(
        release(LINE * 2), TRUTH, control=sf.Table.of({"x": LINE[::-1].copy()})
    )
    other = CurveFitting(trials=50).run(release(np.sqrt(LINE)), TRUTH, randomness=sf.Randomness.seeded(9))
    assert other.facts != CurveFitting(trials=50).run(release(np.sqrt(LINE)), TRUTH).facts


def test_the_venn_diagram_adds_up() -> None:
    outcome = CurveCombination(trials=60, radius=0.02).run(release(np.sqrt(LINE)), TRUTH)
    venn = outcome.facts["venn"]["x"]
    parts = {name: share for name, share in venn.items() if name not in ("any", "expected")}
    assert len(parts) == 7 and sum(parts.values()) == pytest.approx(venn["any"])
    expected = sum(share * (name.count(" and ") + 1) / 3 for name, share in parts.items())
    assert venn["expected"] == pytest.approx(expected)
    assert outcome.risk <= venn["any"] + 0.1


def test_bad_input() -> None:
    with pytest.raises(sf.PolicyError, match='"z" is not a column of numbers'):
        CurveFitting(column="z").run(release(LINE), TRUTH)
    with pytest.raises(ValueError, match="radius"):
        CurveFitting(radius=0)


def test_500_trials_take_seconds() -> None:
    codes = np.random.default_rng(0).permutation(6000).astype(float)
    begin = time.perf_counter()
    CurveFitting().run(release(codes), sf.Table.of({"x": np.arange(6000.0)}))
    assert time.perf_counter() - begin < 20
