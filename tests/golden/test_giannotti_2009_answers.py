# SPDX-License-Identifier: MIT
"""Randomized response: Table 1 of Warner (1965), the edges of p, and what asking again gives away."""

from __future__ import annotations

from math import comb, log

import numpy as np
import polars as pl
import pytest

from sfumato.attack.answers.repeated_answers import RepeatedAnswers
from sfumato.errors import PolicyError
from sfumato.mine.answers.proportions import estimate_proportions, warner_estimate
from sfumato.mine.answers.truthfulness import compare_truthfulness, compute_warner_variance, simulate_truthfulness
from sfumato.protect.answers.randomize_response import RandomizeResponse
from sfumato.randomness import Randomness
from sfumato.table import Table

# Warner 1965, Table 1 (Giannotti et al. 2009): T_a, T_b, bias, ratios of mean square errors for p = .6, .7, .8, .9.
TABLE_1 = """
.95 1.00 -.03 5.45 1.36 .60 .33
.90 1.00 -.06 1.62 .40 .18 .10
.70 1.00 -.18 .19 .05 .02 .01
.50 1.00 -.30 .07 .02 .01 .00
1.00 .95 .02 9.82 2.44 1.08 .60
1.00 .90 .04 3.41 .85 .37 .21
1.00 .70 .12 .43 .11 .05 .03
1.00 .50 .20 .16 .04 .02 .01
.95 .95 -.01 18.25 4.54 2.00 1.11
.90 .90 -.02 9.70 2.41 1.06 .59
.70 .70 -.06 1.62 .40 .18 .10
.50 .50 -.10 .61 .15 .07 .04
"""
ROWS = [[float(cell) for cell in line.split()] for line in TABLE_1.strip().splitlines()]


def test_table_1_by_formula() -> None:
    """All 12 biases and 48 ratios, to the two decimals that are printed."""
    comparison = compare_truthfulness(share=0.6, n=1000)
    assert comparison.columns == ["truth_a", "truth_b", "bias", "p=0.6", "p=0.7", "p=0.8", "p=0.9"]
    assert [[round(cell, 2) for cell in row] for row in comparison.iter_rows()] == ROWS


def test_table_1_by_simulation() -> None:
    """40,000 surveys: a ratio of two mean squares varies by 1 % or so; biases by less than 0.0005."""
    estimates = np.asarray(simulate_truthfulness(surveys=40_000, randomness=Randomness.seeded(1)).rows())
    exact = np.asarray(compare_truthfulness().rows())
    assert np.abs(estimates[:, 2] - exact[:, 2]).max() < 0.0005
    assert np.abs(estimates[:, 3:] / exact[:, 3:] - 1).max() < 0.06


def test_the_estimate_and_its_variance_as_printed() -> None:
    """π̂ = (p − 1)/(2p − 1) + n₁/((2p − 1)n), and its variance at the least and the most informative p."""
    assert warner_estimate(540, 1000, 0.7) == pytest.approx(-0.3 / 0.4 + 540 / 400)
    assert compute_warner_variance(0.6, 1000, 0.6) == pytest.approx(0.00624)
    assert compute_warner_variance(0.6, 1000, 1.0) == pytest.approx(0.6 * 0.4 / 1000)


def yes_or_no(n: int, share: float = 0.5) -> Table:
    frame = pl.DataFrame({"name": [f"person {number}" for number in range(n)], "yes": np.arange(n) < share * n})
    return Table.of(frame, {"name": "identifying", "yes": "sensitive"})


def test_what_happens_with_p_1_and_with_p_one_half() -> None:
    """p = 1 is the truth itself and refused; 1/2 is pure chance, published but not estimated from."""
    with pytest.raises(PolicyError, match="nothing is protected"):
        RandomizeResponse(column="yes", p=1.0).protect(yes_or_no(50))
    release = RandomizeResponse(column="yes", p=0.5).protect(yes_or_no(50), Randomness.seeded(1))
    assert release.public["yes"]["epsilon"] == 0
    assert release.losses["loss"] == 1
    with pytest.raises(PolicyError, match="no information"):
        estimate_proportions(release, "yes")


def test_epsilon_is_the_log_odds_of_the_truth() -> None:
    release = RandomizeResponse(column="yes", p=0.7).protect(yes_or_no(50))
    assert release.public["yes"]["epsilon"] == pytest.approx(log(0.7 / 0.3))
    assert next(claim for claim in release.claims if claim.property == "epsilon").threshold == pytest.approx(
        0.8473, abs=1e-4
    )


@pytest.mark.parametrize(("times", "share"), [(1, 0.70), (5, 0.837), (15, 0.950)])
def test_asked_again_and_again_the_majority_is_right(times: int, share: float) -> None:
    """An independent count: Warner p = .7 asked 1, 5, 15 times guesses 70, 83, 95 %."""
    exact = sum(comb(times, k) * 0.7**k * 0.3 ** (times - k) for k in range(times // 2 + 1, times + 1))
    assert exact == pytest.approx(share, abs=5e-4)
    table = yes_or_no(20_000)
    release = RandomizeResponse(column="yes", p=0.7).protect(table, Randomness.seeded(3))
    outcome = RepeatedAnswers(times=times, prior="flat").run(release, table)
    assert outcome.risk == pytest.approx(exact, abs=5 * (0.25 / 20_000) ** 0.5)
    assert outcome.baseline == 10_000


def test_memoized_answers_give_nothing_away_when_asked_again() -> None:
    table, method = yes_or_no(20_000), RandomizeResponse(column="yes", p=0.7)
    key = method.new_key(Randomness.seeded(1))
    first, *more = (method.protect(table, key=key) for _ in range(5))
    outcome = RepeatedAnswers(times=15).add_releases(*more).run(first, table)
    assert outcome.facts["copies"] == 4
    assert outcome.successes == outcome.facts["once_right"]
    assert outcome.risk == pytest.approx(0.7, abs=5 * (0.21 / 20_000) ** 0.5)
