# SPDX-License-Identifier: MIT
from __future__ import annotations

from fractions import Fraction
from math import comb, lgamma, log
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.anonymity import population_size
from sfumato.measure.anonymity.population_size import (
    ClassSizes,
    estimate_population,
    fit_negative_binomial,
    fit_pitman,
    fit_snb,
    fit_zayatz,
)
from sfumato.measure.anonymity.risk import Risk, Uniques, risk
from tests.brute import Cell, HierarchyRows, Row, crowd_sizes
from tests.tables import Small, figure_2, small_tables


def make_risk(records: int, *shares: float) -> Risk:
    """A risk with its figures rounded as the measure rounds them."""
    at_risk, highest, rate = (round(share, 12) for share in shares)
    return Risk(records, at_risk, highest, rate)


MEANINGS = ["own_value", "matches_any", "never_matches", "drop"]


def test_figure_2() -> None:
    """Giannotti et al. (2009), Figure 2: rows in classes of 2, 2, 2, 2 and 3; El Emam's three figures by hand."""
    risk_report = risk(figure_2(), threshold=0.4)
    assert risk_report.prosecutor == make_risk(11, 8 / 11, 0.5, 5 / 11)
    assert risk_report.journalist == risk_report.marketer == risk_report.prosecutor
    assert risk_report.uniques == Uniques(0, 0.0, 0.0)
    assert risk_report.estimator.startswith("none: no population")


def test_a_threshold_is_exceeded_not_reached() -> None:
    """1/3 and 1/10 as floats must not put a record above a threshold that it only reaches."""
    table = sf.Table.of({"q": ["a"] * 3 + ["b"] * 10}, {"q": "quasi_identifying"})
    assert risk(table, threshold=1 / 3).prosecutor.records_at_risk == 0
    assert risk(table, threshold=0.1).prosecutor.records_at_risk == pytest.approx(3 / 13)
    assert risk(table, threshold=0.3).prosecutor.records_at_risk == pytest.approx(3 / 13)


def test_a_population_by_hand() -> None:
    """Two classes of 1 and 3 in the table, of 2 and 4 in the population; El Emam's journalist and marketer."""
    roles, tree = {"q": "quasi_identifying"}, {"q": [[v, "low" if v < "c" else "high"] for v in "abcd"]}
    table = sf.Table.of({"q": ["low", "high", "high", "high"]}, roles, tree)
    population = sf.Table.of({"q": list("abcccd")}, roles)
    risk_report = risk(table, 0.3, population)
    assert risk_report.estimator == "given"
    assert risk_report.marketer == make_risk(4, 0.25, 0.5, (1 / 2 + 3 / 4) / 4)
    # The other guess, from the population: two classes of six people.
    assert risk_report.journalist.success_rate == pytest.approx(1 / 3)
    assert risk_report.uniques == Uniques(1, None, 0.0)


def test_suppressed_rows_are_a_crowd_of_their_own() -> None:
    roles = {"q": "quasi_identifying", "r": "quasi_identifying"}
    table = sf.Table.of({"q": ["a", "a", "*", "*", "*"], "r": ["x", "x", "*", "*", "*"]}, roles)
    risk_report = risk(table)
    assert risk_report.suppressed_rows == 3
    assert risk_report.prosecutor == make_risk(5, 1.0, 0.5, 2 / 5)
    # In the population: whoever is not (a, x) may be one of the starred; here five others.
    population = sf.Table.of({"q": list("aaabbbcc"), "r": list("xxxyyyxx")}, roles)
    assert risk(table, population=population).marketer.success_rate == pytest.approx((2 / 3 + 3 / 5) / 5)


def test_ranges_and_sets_cover_people() -> None:
    roles = {"age": "quasi_identifying", "town": "quasi_identifying"}
    table = sf.Table.of({"age": ["[20, 29]", "[25, 40]", "33"], "town": ["{a, b}", "*", "c"]}, roles)
    population = sf.Table.of({"age": [20, 29, 30, 33, 33, 19], "town": ["a", "c", "b", "c", "a", "a"]}, roles)
    risk_report = risk(table, 0.3, population)
    assert risk_report.marketer == make_risk(3, 2 / 3, 1.0, (1 + 1 / 4 + 1) / 3)


@pytest.mark.parametrize("text", ["{a, b}", "[a, b]"])
def test_a_value_of_the_population_is_no_set(text: str) -> None:
    """One person has it, whoever else has a value that it seems to cover."""
    roles = {"q": "quasi_identifying"}
    table, population = (sf.Table.of({"q": [text, *"ab" * times]}, roles) for times in (2, 5))
    risk_report = risk(table, population=population)
    assert risk_report.journalist.highest_risk == 1.0
    assert risk_report.marketer == make_risk(5, 1 / 5, 1.0, (1 + 4 / 5) / 5)
    assert risk(table, population=sf.Table.of({"q": [*"ab" * 5]}, roles)).journalist.highest_risk == 0.2


def fits(row: Row, person: Row, trees: list[HierarchyRows], missing: str) -> bool:
    """Whether a published row may be a person, cell by cell."""
    for label, value, tree in zip(row, person, trees, strict=True):
        if label == "*" or (missing == "matches_any" and (label is None or value is None)):
            continue
        if label is None or value is None:
            swallowed = value is None and any(
                {leaf[level] for leaf in tree} == {label} for level in range(1, len(tree[0]))
            )
            if not swallowed and (label is not value or missing == "never_matches"):
                return False
            continue
        if label not in next((leaf for leaf in tree if leaf[0] == value), [value]):
            return False
    return True


def people_of(published: list[Row], population: list[Row], trees: list[HierarchyRows], missing: str) -> list[int]:
    """For each published row, the people it may be; suppressed rows are those who fit no other."""
    starred = [all(cell == "*" for cell in row) for row in published]
    unstarred_rows = [row for row, star in zip(published, starred, strict=True) if not star]
    unmet = sum(not any(fits(row, person, trees, missing) for row in unstarred_rows) for person in population)
    counts = []
    for row, star in zip(published, starred, strict=True):
        is_lonely = missing == "never_matches" and None in row
        fit_count = unmet if star else sum(fits(row, person, trees, missing) for person in population)
        counts.append(1 if is_lonely else max(fit_count, published.count(row)))
    return counts


@pytest.mark.parametrize("missing", MEANINGS)
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), seed=st.integers(0, 2**32))
def test_every_figure_against_all_pairs(missing: str, small: Small, seed: int) -> None:
    """Local recoding at random: each cell at any level of its hierarchy, some rows starred."""
    chance = Random(seed)

    def publish(row: Row) -> Row:
        if chance.random() < 0.2:
            return ("*",) * len(row)
        cells: list[Cell] = []
        for cell, tree in zip(row, small.hierarchies, strict=True):
            leaf = next((leaf for leaf in tree if leaf[0] == cell), None)
            cells.append(None if leaf is None else chance.choice(leaf))
        return tuple(cells)

    published = [publish(row) for row in small.rows]
    population = small.table(missing)
    names = population.quasi_identifying
    columns = [pl.Series(name, [row[i] for row in published], dtype=pl.String) for i, name in enumerate(names)]
    table = population.replace_frame(population.frame.with_columns(columns))
    risk_report = risk(table, 0.3, population)
    rows, people = published, list(small.rows)
    if missing == "drop":
        rows, people = ([row for row in records if None not in row] for records in (published, small.rows))
    crowd = crowd_sizes(rows, missing)
    expect(risk_report.prosecutor, [Fraction(1, size) for size in crowd], 0.3)
    expect(
        risk_report.marketer, [Fraction(1, size) for size in people_of(rows, people, small.hierarchies, missing)], 0.3
    )
    assert risk_report.journalist.success_rate >= risk_report.marketer.success_rate
    assert risk_report.uniques.sample == crowd.count(1)
    unique_flags = [number == 1 for number in people_of(rows, people, small.hierarchies, missing)]
    assert risk_report.uniques.sample_and_population == sum(
        mine and size == 1 for mine, size in zip(unique_flags, crowd, strict=True)
    )


@pytest.mark.parametrize("missing", MEANINGS)
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), other=st.integers(0, 8), share=st.floats(1e-9, 1.0))
def test_no_more_are_alone_in_both_than_in_the_table(missing: str, small: Small, other: int, share: float) -> None:
    """Whether the population is estimated, or given and does not know everybody who is published."""
    table = small.table(missing)
    for risk_report in (
        risk(table, population=table.replace_frame(table.frame.head(other))),
        risk(table, sampling_share=share),
    ):
        assert 0 <= risk_report.uniques.sample_and_population <= risk_report.uniques.sample
        assert 0 <= risk_report.marketer.success_rate <= risk_report.journalist.success_rate <= 1
        assert 0 <= risk_report.journalist.highest_risk <= 1


def expect(measured_risk: Risk, risks: list[Fraction], threshold: float) -> None:
    assert measured_risk.records == len(risks)
    if risks:
        assert measured_risk.records_at_risk == pytest.approx(
            sum(row_risk > threshold for row_risk in risks) / len(risks)
        )
        assert measured_risk.highest_risk == pytest.approx(float(max(risks)))
        assert measured_risk.success_rate == pytest.approx(float(sum(risks) / len(risks)))


def sizes(counts: dict[int, int]) -> ClassSizes:
    return ClassSizes(np.array(list(counts), dtype=float), np.array(list(counts.values()), dtype=float))


def test_zayatz_by_whole_numbers() -> None:
    """Zayatz 1991 with exact binomial coefficients: 40 of 200 people, classes of 1, 2 and 5."""
    counts, rows, people = {1: 10, 2: 10, 5: 2}, 40, 200

    def compute_chance(size: int, sample_size: int) -> Fraction:
        return Fraction(comb(size, sample_size) * comb(people - size, rows - sample_size), comb(people, rows))

    fit = fit_zayatz(sizes(counts), 0.2)
    for index, f in enumerate(counts):
        weights = {size: number * compute_chance(size, f) for size, number in counts.items() if size >= f}
        total = sum(weights.values())
        assert fit.inverse[index] == pytest.approx(float(sum(w / size for size, w in weights.items()) / total))
        assert fit.mean[index] == pytest.approx(float(sum(w * size for size, w in weights.items()) / total))
    unique_chance = 10 * compute_chance(1, 1) / sum(number * compute_chance(size, 1) for size, number in counts.items())
    assert fit.uniques == pytest.approx(float(10 * unique_chance * 5))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_negative_binomial_by_its_series(share: float) -> None:
    """Benedetti and Franconi 1998: P(F = h) = C(h−1, f−1) πᶠ (1−π)ʰ⁻ᶠ; for f = 1, E[1/F] = −π ln π / (1 − π)."""
    fit = fit_negative_binomial(sizes({1: 1, 2: 1, 7: 1}), share)
    assert fit.inverse[0] == pytest.approx(-share * log(share) / (1 - share))
    for index, f in enumerate((1, 2, 7)):
        chances = [
            (h, np.exp(lgamma(h) - lgamma(f) - lgamma(h - f + 1) + f * log(share) + (h - f) * log(1 - share)))
            for h in range(f, 4000)
        ]
        assert fit.inverse[index] == pytest.approx(sum(p / h for h, p in chances))
        assert fit.mean[index] == pytest.approx(sum(p * h for h, p in chances))


def test_pitman_is_where_the_likelihood_is_highest() -> None:
    """Pitman's sampling formula, factor by factor in plain Python; nothing around the fit is likelier."""
    counts = {1: 60, 2: 20, 3: 8, 5: 4, 12: 2}
    fitted = population_size._solve_pitman(sizes(counts))
    assert fitted is not None
    classes, rows = sum(counts.values()), sum(size * number for size, number in counts.items())

    def likelihood(alpha: float, theta: float) -> float:
        joined = sum(log(theta + i * alpha) for i in range(1, classes)) - sum(log(theta + i) for i in range(1, rows))
        return joined + sum(number * sum(log(i - alpha) for i in range(1, size)) for size, number in counts.items())

    alpha, theta = fitted
    best = likelihood(alpha, theta)
    for a, t in ((1.02, 1), (0.98, 1), (1, 1.05), (1, 0.95), (1.02, 0.95), (0.98, 1.05)):
        assert likelihood(alpha * a, theta * t) < best


def urn(
    people: int, alpha: float, theta: float, chance: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The class sizes of a population that grows as in Pitman's urn."""
    sizes, member = [1], [0]
    for person in range(1, people):
        if chance.random() * (person + theta) < theta + alpha * len(sizes):
            sizes.append(1)
            member.append(len(sizes) - 1)
            continue
        while True:
            joined = member[int(chance.integers(person))]
            if chance.random() * sizes[joined] < sizes[joined] - alpha:
                break
        sizes[joined] += 1
        member.append(joined)
    return np.array(sizes)


def sampled(
    population: np.ndarray[tuple[int], np.dtype[np.int64]], share: float, chance: np.random.Generator
) -> ClassSizes:
    class_sizes = chance.binomial(population, share)
    values, counts = np.unique(class_sizes[class_sizes > 0], return_counts=True)
    return ClassSizes(values.astype(float), counts.astype(float))


def test_pitman_finds_the_uniques_of_its_own_population() -> None:
    """30,000 people, a tenth sampled, ten times: no bias. One estimate is off by a tenth (a deviation, over 40 seeds),
    their mean by a thirtieth, so a seventh is more than four deviations: an error in 10,000."""
    errors = []
    for seed in range(10):
        chance = np.random.default_rng(seed)
        population = urn(30_000, 0.5, 80.0, chance)
        fit = fit_pitman(sampled(population, 0.1, chance), 0.1)
        assert fit is not None
        errors.append(fit.uniques / (population == 1).sum() - 1)
    assert abs(np.mean(errors)) < 1 / 7


def test_pitman_at_its_edge_is_ewens() -> None:
    """Ewens: θ such that Σ θ/(θ+i) over i < n is the number of classes; then θN/(θ+N−1) people are alone."""
    counts = {1: 40, 2: 30, 3: 10}
    fit = fit_pitman(sizes(counts), 0.1)
    assert fit is not None
    assert fit.estimator == "pitman: at its edge, alpha = 0"
    low, high = 1.0, 1e6
    for _ in range(200):
        theta = (low + high) / 2
        low, high = (theta, high) if sum(theta / (theta + i) for i in range(130)) < 80 else (low, theta)
    assert fit.uniques == pytest.approx(theta * 1300 / (theta + 1299))
    # A sample unique stays alone if none of those who come joins it, each with probability 1 / (i + θ).
    stays = np.prod([1 - 1 / (i + theta) for i in range(130, 1300)])
    assert fit.joint_uniques == pytest.approx(40 * stays)


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 0.3), (0.6, 0.1)])
def test_snb_finds_the_uniques_and_risks_of_its_own_population(alpha: float, beta: float) -> None:
    """20,000 classes, half of everybody sampled; uniques and E[1/F | f] within a tenth."""
    chance = np.random.default_rng(3)
    population = 1 + chance.negative_binomial(alpha, beta, 20_000)
    sample_sizes = chance.binomial(population, 0.5)
    values, counts = np.unique(sample_sizes[sample_sizes > 0], return_counts=True)
    fit = fit_snb(ClassSizes(values.astype(float), counts.astype(float)), 0.5)
    assert fit is not None
    assert fit.uniques == pytest.approx((population == 1).sum(), rel=0.1)
    for index in range(3):
        mine = population[sample_sizes == values[index]]
        assert fit.inverse[index] == pytest.approx((1 / mine).mean(), rel=0.1)
        assert fit.mean[index] == pytest.approx(mine.mean(), rel=0.1)


@given(
    st.dictionaries(st.one_of(st.integers(1, 30), st.integers(1, 100_000)), st.integers(1, 50), min_size=1),
    st.one_of(st.floats(0.001, 1.0), st.floats(1e-9, 0.05)),
)
@settings(deadline=None, max_examples=200)
def test_an_estimate_makes_sense(counts: dict[int, int], share: float) -> None:
    sample = sizes(dict(sorted(counts.items())))
    estimate = estimate_population(sample, share)
    assert (estimate.mean >= sample.sizes * (1 - 1e-9)).all()
    assert (estimate.inverse <= (1 + 1e-9) / sample.sizes).all()
    assert (
        estimate.inverse >= (1 - 1e-9) / estimate.mean
    ).all()  # Jensen: the mean of 1/F is not below 1 / the mean of F
    assert 0 <= estimate.uniques <= sample.rows / share + 1
    assert 0 <= estimate.joint_uniques <= sample.count_classes(1)


@given(st.one_of(st.integers(2, 60), st.integers(2, 10**6)), st.floats(0, 0.99), st.floats(1e-6, 1 - 1e-6))
@settings(deadline=None, max_examples=200)
def test_growth_by_the_series_of_gauss(size: int, alpha: float, share: float) -> None:
    """E[1/F] = π/f Σ (1+α)ₙ / (f+1)ₙ (1−π)ⁿ, term by term: all are positive, the sum is as exact as its length."""
    total, term, step = 0.0, 1.0, 0
    while term > 1e-13 * total and step < 200_000:
        total += term
        term *= (1 + alpha + step) / (size + 1 + step) * (1 - share)
        step += 1
    inverse, _ = population_size._expect_class_growth(np.array([float(size)]), alpha, share)
    assert share / size * total <= inverse[0] * (1 + 1e-9)
    if term <= 1e-13 * total and size > 2:
        assert inverse[0] == pytest.approx(share / size * total, rel=1e-6)


def test_the_rule_of_dankar() -> None:
    chance = np.random.default_rng(0)
    skewed = urn(20_000, 0.5, 80.0, chance)
    assert estimate_population(sampled(skewed, 0.05, chance), 0.05).estimator == "pitman"
    half = sampled(skewed, 0.5, chance)
    other = fit_snb(half, 0.5)
    assert other is not None
    assert estimate_population(half, 0.5).uniques == min(fit_zayatz(half, 0.5).uniques, other.uniques)
    lonely = sizes({1: 50})
    assert estimate_population(lonely, 0.05).estimator == "zayatz: pitman has no fit"
    assert estimate_population(lonely, 0.5).estimator == "zayatz: snb has no fit"
    assert estimate_population(sizes({5: 3}), 0.05).estimator == "negative_binomial: no sample uniques"
    assert estimate_population(lonely, 1.0).estimator == "none: the table is the whole population"


def test_an_estimate_is_near_what_the_population_says() -> None:
    """A tenth of 20,000 invented people: the marketer's rate by the estimate, and by counting the population."""
    from tests.contract.examples import people

    population = people(20_000)
    sample = population.replace_frame(population.frame.sample(2_000, seed=1))
    exact_risk, guessed = risk(sample, population=population), risk(sample, sampling_share=0.1)
    assert guessed.estimator.startswith("pitman")
    assert guessed.marketer.success_rate == pytest.approx(exact_risk.marketer.success_rate, rel=0.05)
    assert guessed.uniques.sample_and_population == pytest.approx(exact_risk.uniques.sample_and_population, rel=0.05)
    coarse = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.05).protect(sample).data
    exact_risk, guessed = risk(coarse, population=population), risk(coarse, sampling_share=0.1)
    assert guessed.marketer.success_rate == pytest.approx(exact_risk.marketer.success_rate, rel=0.1)
    assert guessed.journalist.highest_risk < 0.2 == risk(coarse).journalist.highest_risk


def test_nobody_is_at_risk_in_an_empty_table() -> None:
    table = figure_2()
    risk_report = risk(table.replace_frame(table.frame.clear()), sampling_share=0.1)
    assert risk_report.prosecutor == risk_report.journalist == risk_report.marketer == Risk(0, 0.0, 0.0, 0.0)
    assert risk_report.estimator == "none: nobody is in the table"
    assert risk_report.as_json()["uniques"] == {"sample": 0, "population": 0.0, "sample_and_population": 0.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"sampling_share": 0.0}, "sampling_share"),
        ({"sampling_share": 1.1}, "sampling_share"),
        ({"sampling_share": 0.1, "population": figure_2()}, "not both"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(sf.PolicyError, match=message):
        risk(figure_2(), **arguments)  # type: ignore[arg-type]


def test_a_population_without_a_column_is_refused() -> None:
    table = figure_2()
    with pytest.raises(sf.DataError, match='"zip"'):
        risk(table, population=table.replace_frame(table.frame.drop("zip")))


@pytest.mark.parametrize("name", ["crowd", "rows", "other"])
def test_many_classes_with_missing_cells_are_joined_whatever_the_columns_are_called(name: str) -> None:
    known = {"age": [number if number % 50 else None for number in range(600)], name: list(range(600))}
    table = sf.Table.of(known, dict.fromkeys(known, "quasi_identifying"), missing="matches_any")
    assert sf.measure.anonymity(table)["k"] == 1
    assert sf.measure.k_map(table, table) == 1
