# SPDX-License-Identifier: MIT
"""Family matching: a distribution and two points are enough for codes that keep the order."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

import sfumato as sf
from sfumato.attack.codes.family_matching import FamilyMatching
from sfumato.public.codes.distribution_families import Family, guess_by_family

FAMILIES = get_args(Family)
SHARES = (np.arange(2000) + 0.5) / 2000
MEMBERS: dict[str, Any] = {
    "gaussian": stats.norm(170, 10),
    "uniform": stats.uniform(20, 60),
    "exponential": stats.expon(5, 30),
    "lognormal": stats.lognorm(0.4, scale=30_000),
    "zipf": stats.pareto(2.5, scale=100),
}
"""Quantiles by scipy, which this code does not use."""


def values_of(family: str) -> Any:
    return np.sort(MEMBERS[family].ppf(SHARES))


def release(codes: Any) -> sf.Release:
    return sf.Release(sf.Table.of({"x": codes}), None, (), {})


@pytest.mark.parametrize("family", FAMILIES)
def test_two_exact_points_give_the_whole_distribution(family: Family) -> None:
    places = np.array([[200, 1500], [10, 1990]])
    values = values_of(family)
    guesses = guess_by_family(family, SHARES, SHARES[places], values[places])
    assert np.allclose(guesses, values, rtol=1e-9)


def test_more_points_are_fitted_by_least_squares() -> None:
    """Uniform: a straight line through (0.1, 10), (0.5, 60), (0.9, 80); by hand, slope 87.5 and level 50 at 0.5."""
    guesses = guess_by_family("uniform", np.array([0.0, 0.5]), np.array([[0.1, 0.5, 0.9]]), np.array([[10.0, 60, 80]]))
    assert guesses == pytest.approx(np.array([[50 - 43.75, 50.0]]))
    same = guess_by_family("uniform", np.array([0.0, 0.5]), np.array([[0.3]]), np.array([[7.0]]))
    assert same.tolist() == [[7.0, 7.0]]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_curve_does_not_protect_a_known_family(family: Family) -> None:
    values = values_of(family)
    truth = sf.Table.of({"x": values})
    attack = FamilyMatching(family=family, radius=0.05, trials=60)
    for codes in (np.cbrt(values), -(values**1.5)):
        assert attack.run(release(codes), truth).risk > 0.6
    shuffled = np.random.default_rng(1).permutation(len(values)).astype(float)
    blind = attack.run(release(shuffled), truth)
    assert blind.successes <= max(blind.baseline, 0.3 * blind.attempts)


def test_the_right_family_reads_more_than_a_wrong_one() -> None:
    truth = sf.Table.of({"x": values_of("gaussian")})
    codes = release(np.exp(values_of("gaussian") / 20))
    risks = {
        family: FamilyMatching(family=family, points=4, radius=0.02, trials=60).run(codes, truth).risk
        for family in ("gaussian", "zipf")
    }
    assert risks["gaussian"] > 0.8
    assert risks["zipf"] < 0.5


def test_bad_points_mislead_and_more_good_ones_help() -> None:
    values = values_of("gaussian")
    truth, codes = sf.Table.of({"x": values}), release(values**3)
    risk = {
        points: FamilyMatching(points=points[0], bad=points[1], trials=100).run(codes, truth).risk
        for points in ((2, 0), (8, 0), (2, 1))
    }
    assert risk[8, 0] > risk[2, 0] > risk[2, 1]


def test_values_that_have_no_logarithm_are_no_crash() -> None:
    values = np.arange(-50.0, 50.0)
    outcome = FamilyMatching(family="lognormal", trials=20).run(release(values * 2), sf.Table.of({"x": values}))
    assert 0 <= outcome.risk <= 1
    alike = FamilyMatching(trials=3).run(release(np.zeros(4)), sf.Table.of({"x": np.arange(4.0)}))
    assert alike.attempts == 4


def test_chance_can_be_repeated_and_bad_input_is_refused() -> None:
    values = values_of("exponential")
    truth, codes = sf.Table.of({"x": values}), release(np.sqrt(values))
    attack = FamilyMatching(family="exponential", trials=30)
    assert attack.run(codes, truth) == attack.run(codes, truth)
    assert attack.run(codes, truth).facts["family"] == "exponential"
    with pytest.raises(ValidationError, match="points must be at least 2"):
        FamilyMatching(points=1)
    with pytest.raises(ValidationError):
        FamilyMatching(family="cauchy")
    with pytest.raises(sf.SfumatoError, match="z"):
        FamilyMatching(column="z").run(codes, truth)
